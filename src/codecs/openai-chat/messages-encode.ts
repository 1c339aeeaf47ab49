import type { Conversation, Part, TextPart, ToolCallPart, ToolResultPart } from '../conversation.ts';
import type { Dialect } from '../dialect.ts';
import { ERROR_MARK } from '../result-mark.ts';
import { type Run, runsOf } from '../runs.ts';
import { nineLetters, shortened } from '../tool-names.ts';
import { type JsonObject, textOf } from '../values.ts';
import { contentOf } from './content-encode.ts';

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
  const results = rest.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-result'));
  // Last first, so that the first one to wait is at hand.
  const waiting = Map.groupBy(results.toReversed(), ({ callId }) => callId);
  const list: JsonObject[] = [];
  const answered = new Set<Part>();
  for (const { parts } of answers) {
    list.push(...assistantMessage(parts, dialect));
    for (const { id } of parts.filter((part) => part.type === 'tool-call')) {
      const result = waiting.get(id)?.pop();
      if (result !== undefined) answered.add(result);
      list.push({ role: 'tool', tool_call_id: wireId(id, dialect), content: textOfResult(result) });
    }
  }
  let shown = results
    .filter((result) => answered.has(result))
    .flatMap((result) => attachments(result, dialect));
  for (const { parts, role } of rest) {
    if (role === 'user') {
      list.push(
        ...userMessage([...shown, ...parts.flatMap((part) => (answered.has(part) ? [] : said(part)))]),
      );
      shown = [];
    } else list.push(...instructions(parts, dialect));
  }
  return list;
}

function instructions(parts: readonly Part[], { systemRole }: Dialect): JsonObject[] {
  const content = joined(parts);
  return content === '' ? [] : [{ role: systemRole, content }];
}

/** The texts as one: DeepSeek and others take no list where the vendor does, and their templates none elsewhere. */
function joined(parts: readonly Part[]): string {
  return paragraphs(parts.filter((part): part is TextPart => part.type === 'text').map(({ text }) => text));
}

function paragraphs(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

function userMessage(content: readonly JsonObject[]): JsonObject[] {
  if (content.length === 0) return [];
  const plain = content.every(({ type }) => type === 'text');
  return [{ role: 'user', content: plain ? paragraphs(content.map(({ text }) => textOf(text))) : content }];
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
  const [content] = part.type === 'file' && part.source.kind === 'text' ? contentOf(part) : [];
  return content === undefined ? part : { type: 'text', text: textOf(content['text']) };
}

function attachments({ callId, parts }: ToolResultPart, dialect: Dialect): JsonObject[] {
  const shown = parts.filter((part) => inWords(part).type !== 'text').flatMap(contentOf);
  if (shown.length === 0) return [];
  return [{ type: 'text', text: `Attachment of the result of ${wireId(callId, dialect)}:` }, ...shown];
}

function assistantMessage(parts: readonly Part[], dialect: Dialect): JsonObject[] {
  const { reasoningField } = dialect;
  const text = joined(parts);
  const calls = parts
    .filter((part) => part.type === 'tool-call')
    .map((part) => callOf(part, wireId(part.id, dialect)));
  const words = (type: 'reasoning' | 'refusal') =>
    paragraphs(parts.flatMap((part) => (part.type === type ? [part.text] : [])));
  const [reasoning, refusal] = [words('reasoning'), words('refusal')];
  if (text === '' && calls.length === 0 && refusal === '') return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(refusal === '' ? {} : { refusal }),
      ...(reasoning === '' || reasoningField === null ? {} : { [reasoningField]: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
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
