import { asParagraphs, asWritten, isEmpty } from '../../adapt/joined-texts.ts';
import { ERROR_MARK } from '../../adapt/result-mark.ts';
import { nineLetters, shortened } from '../../adapt/tool-names.ts';
import { filesAsResultText } from '../../files/text-file.ts';
import { type JsonObject, textOf } from '../../json/values.ts';
import type {
  CacheMark,
  Conversation,
  Message,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../model/conversation.ts';
import type { Dialect } from '../../model/dialect.ts';
import { runsOf, type ToolCallGroup } from '../../model/tool-call-groups.ts';
import { cacheControl } from '../../prompt-cache/cache-control.ts';
import { detailsIn } from '../reasoning-details.ts';
import { signatureFields } from '../tool-calls.ts';
import type { MessagePart } from '../wire.ts';
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
 * rest. The vendor refuses a call without a result and a result without a call.
 */
function messagesOfRun({ answers, rest }: ToolCallGroup, dialect: Dialect): JsonObject[] {
  const results = resultsIn(rest);
  const waiting = byCall(results);
  const list: JsonObject[] = [];
  const answered = new Set<Part>();
  for (const message of answers) {
    const { parts } = message;
    list.push(...withName(assistantMessage(parts, dialect), message));
    for (const part of parts) {
      if (part.type !== 'tool-call') continue;
      const result = waiting.get(part.id)?.pop();
      if (result !== undefined) answered.add(result);
      list.push({
        role: 'tool',
        tool_call_id: wireId(part.id, dialect),
        content: contentOfResult(result, dialect),
        ...markOf({ cache: result?.cache ?? lastMark(result?.parts ?? []) }, dialect),
      });
    }
  }
  let shown = results.flatMap((result) => (answered.has(result) ? attachments(result, dialect) : []));
  for (const message of rest) {
    const { parts } = message;
    if (message.role === 'user') {
      const content = parts.flatMap((part) => (answered.has(part) ? [] : blocksOf(part, dialect)));
      const silent = isEmpty({ parts }) && shown.length === 0;
      const userMessages = silent
        ? [{ role: 'user', content: '' }]
        : userMessage([...shown, ...content], dialect);
      list.push(...withName(userMessages, message));
      shown = [];
    } else list.push(...withName(instructions(parts, dialect), message));
  }
  return list;
}

function withName(list: readonly JsonObject[], { name }: Pick<Message, 'name'>): readonly JsonObject[] {
  return name === undefined ? list : list.map((message) => ({ ...message, name }));
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

function instructions(parts: readonly Part[], dialect: Dialect): JsonObject[] {
  const texts = textPartsIn(parts);
  return texts.length === 0
    ? []
    : [{ role: dialect.systemRole, content: textContent(texts, asParagraphs, dialect) }];
}

function textPartsIn(parts: readonly Part[]): TextPart[] {
  return parts.flatMap((part) => (part.type === 'text' && part.text !== '' ? [part] : []));
}

/** What all texts of a kind say; those that say nothing left out. */
function textsIn(parts: readonly Part[], type: 'text' | 'reasoning' | 'refusal' = 'text'): string[] {
  return parts.flatMap((part) => (part.type === type && part.text !== '' ? [part.text] : []));
}

type MarkedText = Pick<TextPart, 'text' | 'cache'>;

/** Texts as content: one string where there is one, or the server takes nothing else; marks need a list. */
function textContent(
  texts: readonly MarkedText[],
  joined: (texts: readonly string[]) => string,
  dialect: Dialect,
): string | JsonObject[] {
  const isMarked = dialect.cacheFields && texts.some(({ cache }) => cache !== undefined);
  if (!isMarked && (texts.length < 2 || !dialect.textParts)) return joined(texts.map(({ text }) => text));
  return texts.map((part) => ({ type: 'text', text: part.text, ...markOf(part, dialect) }));
}

/**
 * A mark, where the server may accept it. That of a result stands on its message: LiteLLM takes one on a part of it for a
 * block inside the result, where Anthropic refuses it.
 */
function markOf(part: { cache?: CacheMark | undefined }, { cacheFields }: Dialect): JsonObject {
  return cacheFields ? cacheControl(part) : {};
}

function userMessage(content: readonly MessagePart[], dialect: Dialect): JsonObject[] {
  if (content.length === 0) return [];
  const isPlain = content.every(({ type }) => type === 'text');
  if (!isPlain || content.some((part) => 'cache_control' in part)) return [{ role: 'user', content }];
  const texts = content.map(({ text }) => ({ text: textOf(text) }));
  return [{ role: 'user', content: textContent(texts, asParagraphs, dialect) }];
}

/** The content of a part in a user message; for a result without a call, the content of the result. */
function blocksOf(part: Part, dialect: Dialect): JsonObject[] {
  if (part.type === 'tool-result') return part.parts.flatMap(contentOf);
  const content: MessagePart[] = contentOf(part);
  if (part.type !== 'text' && part.type !== 'file') return content;
  return content.map((one) => (one.type === 'text' ? { ...one, ...markOf(part, dialect) } : one));
}

function contentOfResult(result: ToolResultPart | undefined, dialect: Dialect): string | JsonObject[] {
  if (result === undefined) return `${ERROR_MARK}No result was given.`;
  const written = textsIn(filesAsResultText(result.parts));
  const [first = '', ...others] =
    written.length === 0 && result.parts.length > 0 ? ['[see the attachment]'] : written;
  const texts = [result.isError ? `${ERROR_MARK}${first}` : first, ...others];
  return textContent(
    texts.map((text) => ({ text })),
    asWritten,
    dialect,
  );
}

/** The last mark among the parts. */
function lastMark(parts: readonly { cache?: CacheMark }[]): CacheMark | undefined {
  return parts.findLast(({ cache }) => cache !== undefined)?.cache;
}

function attachments({ callId, parts }: ToolResultPart, dialect: Dialect): JsonObject[] {
  const shown = filesAsResultText(parts)
    .filter(({ type }) => type !== 'text')
    .flatMap(contentOf);
  if (shown.length === 0) return [];
  return [{ type: 'text', text: `Attachment of the result of ${wireId(callId, dialect)}:` }, ...shown];
}

function assistantMessage(parts: readonly Part[], dialect: Dialect): JsonObject[] {
  const texts = textPartsIn(parts);
  const calls = callsIn(parts, dialect);
  const refusal = asWritten(textsIn(parts, 'refusal'));
  // The encrypted reasoning contains the text too, if the vendor shows it.
  const details = parts.flatMap((part) =>
    part.type === 'reasoning' && part.encrypted?.format === 'openai-chat' ? detailsIn(part.encrypted) : [],
  );
  if (texts.length === 0 && calls.length === 0 && refusal === '') return [];
  return [
    {
      role: 'assistant',
      content: texts.length === 0 ? null : answerContent(texts, dialect),
      ...(refusal === '' ? {} : { refusal }),
      ...(details.length === 0 ? {} : { reasoning_details: details }),
      ...(details.length > 0 ? {} : reasoningMember(parts, dialect)),
      ...signatureFields(textSignature(parts)),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

/** What was thought, for a server that takes it back. */
function reasoningMember(parts: readonly Part[], { noReasoning, reasoningField }: Dialect): JsonObject {
  if (reasoningField === null) return {};
  const reasoning = asParagraphs(textsIn(parts, 'reasoning'));
  if (reasoning !== '') return { [reasoningField]: reasoning };
  const calls = parts.some(({ type }) => type === 'tool-call');
  return noReasoning !== null && calls ? { [reasoningField]: noReasoning } : {};
}

/** The content of an answer is one text, also if it has a mark. */
function answerContent(texts: readonly TextPart[], dialect: Dialect): string | JsonObject[] {
  const text = asWritten(texts.map((part) => part.text));
  const cache = lastMark(texts);
  return textContent([cache === undefined ? { text } : { text, cache }], asWritten, dialect);
}

/** Google's signature of the thoughts that no call follows: its own chat surface has it on the message. */
function textSignature(parts: readonly Part[]): string | null {
  let signature: string | null = null;
  let waiting: string | null = null;
  for (const part of parts) {
    if (part.type === 'reasoning' && part.encrypted?.format === 'gemini') waiting = part.encrypted.value;
    else if (part.type === 'tool-call') waiting = null;
    else if (part.type === 'text') {
      signature = waiting ?? signature;
      waiting = null;
    }
  }
  return waiting ?? signature;
}

/** The calls of an answer, each with Google's signature of the thoughts before it. */
function callsIn(parts: readonly Part[], dialect: Dialect): JsonObject[] {
  const calls: JsonObject[] = [];
  let signature: string | null = null;
  for (const part of parts) {
    if (part.type === 'reasoning' && part.encrypted?.format === 'gemini') signature = part.encrypted.value;
    // It was the text's.
    if (part.type === 'text') signature = null;
    if (part.type !== 'tool-call') continue;
    calls.push({ ...callOf(part, wireId(part.id, dialect)), ...signatureFields(signature) });
    signature = null;
  }
  return calls;
}

function callOf({ input, kind, name }: ToolCallPart, id: string): JsonObject {
  return kind === 'custom'
    ? { id, type: 'custom', custom: { name, input } }
    : { id, type: 'function', function: { name, arguments: input === '' ? '{}' : input } };
}

/** The vendor takes no longer id of a call. */
const MAX_CALL_ID = 40;

function wireId(id: string, { callIds }: Dialect): string {
  if (callIds === 'any') return shortened(id, id, MAX_CALL_ID);
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : nineLetters(id);
}
