import { callIds } from '../../adapt/call-ids.ts';
import { isObject } from '../../json/values.ts';
import { textAt, wrong } from '../../json/wire-check.ts';
import type { Message, Part, TextPart } from '../../model/conversation.ts';
import type { Content, GeminiRequest } from '../wire.ts';
import { camel, messagesAt } from '../wire-names.ts';
import { type CallPairing, instructionOf, readPart } from './content-decode.ts';
import { wholeCalls } from './whole-calls.ts';

/** `contents` as messages. The default role is the user (`Content.role`). */
export function readContents(body: GeminiRequest): Message[] {
  const pairing = pairingOf();
  let before = '';
  const messages: Message[] = [];
  for (const placed of messagesAt(body, 'contents', 'contents')) {
    const [content, path]: [Content, string] = placed;
    const role = textAt(content, 'role', `${path}.role`) ?? 'user';
    if (role !== 'user' && role !== 'model' && role !== 'function' && role !== '')
      throw wrong(`${path}.role`, '"user" or "model"');
    if (role === 'model' && before !== 'model') pairing.forget();
    before = role;
    const parts: Part[] = [];
    for (const [part, at] of wholeCalls(messagesAt(content, 'parts', `${path}.parts`)))
      parts.push(...readPart(part, at, parts, pairing));
    if (role === 'model') messages.push(...answerWith(parts));
    else messages.push({ role: 'user', parts });
  }
  return messages;
}

/**
 * An answer as its turns. The vendor's servers write the results of their own calls into the turn of the model (remote
 * MCP servers); in other formats a result belongs to the user.
 */
function answerWith(parts: readonly Part[]): Message[] {
  const messages: Message[] = [{ role: 'assistant', parts: [] }];
  for (const part of parts) {
    const role = part.type === 'tool-result' ? 'user' : 'assistant';
    const last = messages.at(-1);
    if (last?.role === role) last.parts.push(part);
    else messages.push({ role, parts: [part] });
  }
  return messages.filter((message) => parts.length === 0 || message.parts.length > 0);
}

/** `systemInstruction`: a content, or plain text. */
export function readInstruction(value: unknown): TextPart[] {
  const path = 'systemInstruction';
  if (value === undefined || value === null) return [];
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }];
  if (!isObject(value)) throw wrong(path, 'an object');
  return messagesAt<Content>(camel(value), 'parts', `${path}.parts`).flatMap(([part, at]) => {
    const text = instructionOf(part, at);
    return text === '' ? [] : [{ type: 'text', text }];
  });
}

/** A call that waits for its result. */
interface OpenCall {
  id: string;
  answered: boolean;
}

/** Calls of one name or id, in order. Those before `next` have their results. */
interface Waiting {
  calls: OpenCall[];
  next: number;
}

/**
 * Pairs results with calls: by id, else by name in the order of the calls. Clients name ids of their own for calls
 * that came without (clients' research, Gemini CLI), so that an id that no call has is as good as none.
 */
function pairingOf(): CallPairing & { forget(): void } {
  const ids = callIds();
  const orphans = callIds('result');
  const byId = new Map<string, Waiting>();
  const byName = new Map<string, Waiting>();
  return {
    called(name, id) {
      const call = { id: id || ids.next(name), answered: false };
      wait(byId, call.id, call);
      wait(byName, name, call);
      return call.id;
    },
    answered(name, id) {
      const call = first(byId.get(id ?? '')) ?? first(byName.get(name));
      if (call !== null) call.answered = true;
      return call?.id ?? (id || orphans.next(name));
    },
    /** What was not answered before the next answer of the model is not answered by its name any more. */
    forget() {
      byId.clear();
      byName.clear();
    },
  };
}

function wait(waiting: Map<string, Waiting>, key: string, call: OpenCall): void {
  const list = waiting.get(key);
  if (list === undefined) waiting.set(key, { calls: [call], next: 0 });
  else list.calls.push(call);
}

/** The first of the calls that has no result. */
function first(waiting: Waiting | undefined): OpenCall | null {
  if (waiting === undefined) return null;
  while (waiting.calls[waiting.next]?.answered === true) waiting.next += 1;
  return waiting.calls[waiting.next] ?? null;
}
