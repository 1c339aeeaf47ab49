import type { Conversation, Message, Part, ToolCallPart, ToolResultPart } from '../conversation.ts';
import type { Dialect } from '../dialect.ts';
import { ERROR_MARK } from '../result-mark.ts';
import { type Run, runsOf } from '../runs.ts';
import { textOfFile } from '../text-file.ts';
import { nineLetters, shortened } from '../tool-names.ts';
import { type JsonObject, textOf } from '../values.ts';
import { contentOf } from './content-encode.ts';
import { detailsIn } from './reasoning-details.ts';
import { sealMembers } from './tool-calls.ts';

/** The conversation's messages as the format has them: instructions first, every result a message of its own. */
export function messageList({ messages, system }: Conversation, dialect: Dialect): JsonObject[] {
  return [
    ...instructions(system, dialect),
    ...runsOf(messages).flatMap((run) => messagesOfRun(run, dialect)),
  ];
}

/**
 * Every answer with the results of its calls directly behind it, then what results show besides text, then the
 * rest (M-09, M-10). The vendor refuses a call without a result and a result without a call (M-11).
 */
function messagesOfRun({ answers, rest }: Run, dialect: Dialect): JsonObject[] {
  const results = resultsIn(rest);
  const waiting = byCall(results);
  const list: JsonObject[] = [];
  const answered = new Set<Part>();
  for (const { parts } of answers) {
    list.push(...assistantMessage(parts, dialect));
    for (const part of parts) {
      if (part.type !== 'tool-call') continue;
      const result = waiting.get(part.id)?.pop();
      if (result !== undefined) answered.add(result);
      list.push({ role: 'tool', tool_call_id: wireId(part.id, dialect), content: textOfResult(result) });
    }
  }
  let shown = results.flatMap((result) => (answered.has(result) ? attachments(result, dialect) : []));
  for (const { parts, role } of rest) {
    if (role === 'user') {
      const content = parts.flatMap((part) => (answered.has(part) ? [] : said(part)));
      list.push(...userMessage([...shown, ...content]));
      shown = [];
    } else list.push(...instructions(parts, dialect));
  }
  return list;
}

function resultsIn(messages: readonly Message[]): ToolResultPart[] {
  const results: ToolResultPart[] = [];
  for (const { parts } of messages)
    for (const part of parts) if (part.type === 'tool-result') results.push(part);
  return results;
}

/** Results by the call that they answer, last first, so that the first one to wait is at hand. */
function byCall(results: readonly ToolResultPart[]): Map<string, ToolResultPart[]> {
  const waiting = new Map<string, ToolResultPart[]>();
  for (let index = results.length - 1; index >= 0; index -= 1) {
    const result = results[index];
    if (result === undefined) continue;
    const same = waiting.get(result.callId);
    if (same === undefined) waiting.set(result.callId, [result]);
    else same.push(result);
  }
  return waiting;
}

function instructions(parts: readonly Part[], { systemRole }: Dialect): JsonObject[] {
  const content = joined(parts);
  return content === '' ? [] : [{ role: systemRole, content }];
}

/** The texts as one: DeepSeek and others take no list where the vendor does, and their templates none elsewhere. */
function joined(parts: readonly Part[]): string {
  return wordsOf(parts, 'text');
}

/** What all parts of a kind say, as paragraphs. */
function wordsOf(parts: readonly Part[], type: 'text' | 'reasoning' | 'refusal'): string {
  let words = '';
  for (const part of parts) if (part.type === type) words = paragraph(words, part.text);
  return words;
}

function paragraph(before: string, text: string): string {
  return before === '' || text === '' ? before + text : `${before}\n\n${text}`;
}

function userMessage(content: readonly JsonObject[]): JsonObject[] {
  if (content.length === 0) return [];
  const plain = content.every(({ type }) => type === 'text');
  return [{ role: 'user', content: plain ? paragraphsIn(content) : content }];
}

function paragraphsIn(content: readonly JsonObject[]): string {
  return content.reduce((words, { text }) => paragraph(words, textOf(text)), '');
}

/** What a part says in a message of the user; of a result without its call that is the result itself. */
function said(part: Part): JsonObject[] {
  return part.type === 'tool-result' ? part.parts.flatMap(contentOf) : contentOf(part);
}

function textOfResult(result: ToolResultPart | undefined): string {
  if (result === undefined) return `${ERROR_MARK}No result was given.`;
  const text = joined(result.parts.map(inWords));
  const whole = text === '' && result.parts.length > 0 ? '[see the attachment]' : text;
  return result.isError ? `${ERROR_MARK}${whole}` : whole;
}

/** A file that is text is as good as text. */
function inWords(part: ToolResultPart['parts'][number]): Part {
  const text = part.type === 'file' ? textOfFile(part) : null;
  return text === null ? part : { type: 'text', text };
}

function attachments({ callId, parts }: ToolResultPart, dialect: Dialect): JsonObject[] {
  const shown = parts.filter((part) => inWords(part).type !== 'text').flatMap(contentOf);
  if (shown.length === 0) return [];
  return [{ type: 'text', text: `Attachment of the result of ${wireId(callId, dialect)}:` }, ...shown];
}

function assistantMessage(parts: readonly Part[], dialect: Dialect): JsonObject[] {
  const { reasoningField } = dialect;
  const text = joined(parts);
  const calls = callsIn(parts, dialect);
  const reasoning = wordsOf(parts, 'reasoning');
  const refusal = wordsOf(parts, 'refusal');
  // What is sealed holds the words too, where its maker shows them.
  const details = parts.flatMap((part) =>
    part.type === 'reasoning' && part.sealed?.format === 'openai-chat' ? detailsIn(part.sealed) : [],
  );
  if (text === '' && calls.length === 0 && refusal === '') return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(refusal === '' ? {} : { refusal }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(reasoning === '' || reasoningField === null || details.length > 0
        ? {}
        : { [reasoningField]: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

/** The calls of an answer, each with Google's seal of the thoughts before it. */
function callsIn(parts: readonly Part[], dialect: Dialect): JsonObject[] {
  const calls: JsonObject[] = [];
  let signature: string | null = null;
  for (const part of parts) {
    if (part.type === 'reasoning' && part.sealed?.format === 'gemini') signature = part.sealed.value;
    if (part.type !== 'tool-call') continue;
    calls.push({ ...callOf(part, wireId(part.id, dialect)), ...sealMembers(signature) });
    signature = null;
  }
  return calls;
}

function callOf({ input, kind, name }: ToolCallPart, id: string): JsonObject {
  return kind === 'custom'
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: input === '' ? '{}' : input } };
}

/** The vendor takes no longer id of a call (M-12). */
const MAX_CALL_ID = 40;

function wireId(id: string, { callIds }: Dialect): string {
  if (callIds === 'any') return shortened(id, id, MAX_CALL_ID);
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : nineLetters(id);
}
