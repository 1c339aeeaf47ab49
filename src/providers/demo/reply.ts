import { exampleInput, exampleOf, isRisky } from './example.ts';
import { invalid, isObject } from './json.ts';
import type { DemoModel, DemoTool, Question } from './question.ts';
import { cutToTokens } from './tokens.ts';

/** What the demo says, before a format writes it down. */
export type Reply =
  | { kind: 'text'; text: string; end: 'natural' | 'length' }
  | { kind: 'text'; text: string; end: 'stop'; stop: string }
  | { kind: 'call'; tool: DemoTool; input: string; end: 'call' | 'length' };

const PREFIX = '[modelgate demo]';
const LONGEST_QUOTE = 4000;

/**
 * `echo` repeats the user's text. `tools` calls a tool first, and quotes what it answered.
 * @throws GatewayError when the forced tool is not offered
 */
export function replyTo(question: Question, model: DemoModel): Reply {
  const tool = model === 'tools' && question.toolResult === null ? chooseTool(question) : null;
  if (tool !== null) return callOf(tool, question);
  const whole = textFor(question, model);
  const stopped = stopAt(whole, question.stops);
  const { text, cut } = cutToTokens(stopped?.text ?? whole, question.maxTokens);
  if (cut) return { kind: 'text', text, end: 'length' };
  if (stopped !== null) return { kind: 'text', text, end: 'stop', stop: stopped.stop };
  return { kind: 'text', text, end: 'natural' };
}

function textFor({ userText, toolResult, outputSchema }: Question, model: DemoModel): string {
  if (outputSchema !== null) return JSON.stringify(exampleOf(outputSchema, userText));
  if (model === 'tools' && toolResult !== null) {
    const quote = toolResult === '' ? 'nothing' : toolResult.slice(0, LONGEST_QUOTE);
    return `${PREFIX} The tool answered: ${quote}`;
  }
  return userText === '' ? `${PREFIX} You sent no text.` : `${PREFIX} You said: ${userText}`;
}

function callOf(tool: DemoTool, { userText, maxTokens }: Question): Reply {
  const input = tool.kind === 'custom' ? exampleInput(tool.name, userText) : argumentsFor(tool, userText);
  const { text, cut } = cutToTokens(input, maxTokens);
  return { kind: 'call', tool, input: text, end: cut ? 'length' : 'call' };
}

/** Arguments are always an object, also for a schema that describes something else. */
function argumentsFor(tool: DemoTool, userText: string): string {
  const example = exampleOf({ type: 'object', ...tool.schema }, userText);
  return JSON.stringify(isObject(example) ? example : {});
}

/** The text before the stop string that comes first. */
function stopAt(text: string, stops: readonly string[]): { text: string; stop: string } | null {
  let earliest: { text: string; stop: string } | null = null;
  let first = text.length;
  for (const stop of stops) {
    const position = stop === '' ? -1 : text.indexOf(stop);
    if (position === -1 || position >= first) continue;
    first = position;
    earliest = { text: text.slice(0, position), stop };
  }
  return earliest;
}

/** The tool that the request forces, else the one that the user's text speaks of most, else the first harmless one. */
function chooseTool({ tools, choice, userText }: Question): DemoTool | null {
  if (choice.kind === 'none') return null;
  if (choice.kind === 'one') {
    const forced = tools.find(({ name }) => name === choice.name);
    if (forced === undefined) {
      throw invalid(`tool_choice names "${choice.name}", which is not among the tools`, 'tool_choice');
    }
    return forced;
  }
  const words = new Set(userText.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu) ?? []);
  let best: DemoTool | null = null;
  let bestScore = -1;
  for (const tool of tools) {
    const score = matchOf(tool, words);
    if (score <= bestScore) continue;
    best = tool;
    bestScore = score;
  }
  return best;
}

/** How well a tool's name fits the words: its whole name above its parts above being harmless. */
function matchOf({ name, namespace }: DemoTool, words: ReadonlySet<string>): number {
  if (words.has(name.toLowerCase())) return 100;
  const parts = `${namespace ?? ''}_${name}`.split(/[^\p{L}\p{N}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u);
  const matches = parts.filter((part) => part.length > 2 && words.has(part.toLowerCase())).length;
  if (matches > 0) return 1 + matches;
  return isRisky(name) ? 0 : 1;
}
