import { latin1Text } from '../../../lib/bytes.ts';
import { OPEN_OBJECT, skipSpace } from '../../json/bytes.ts';
import { JsonCursor, stringOf } from '../../json/cursor.ts';
import { fieldNeedle, lastIndexOfNeedle } from '../../json/needle.ts';
import { parseObject } from '../../json/values.ts';
import type { FinishReason } from '../../model/finish-reason.ts';
import { holds, notEmpty } from '../../usage/finish-bytes.ts';
import { lastTextField } from '../../usage/text-field.ts';
import type { ResponsesAnswer } from '../wire.ts';
import { finishOf } from './finish.ts';

const COMPLETED = fieldNeedle('response.completed');
const INCOMPLETE = fieldNeedle('response.incomplete');
const REASON = fieldNeedle('reason');
const calls = [fieldNeedle('function_call'), fieldNeedle('custom_tool_call')];

/** Why a response has ended; null for one that has not, or of whose end too little is kept. */
export function readFinishReason(tail: Uint8Array, kind: 'body' | 'stream'): FinishReason | null {
  return kind === 'body' ? finishOfBody(tail) : finishOfStream(tail);
}

/** The name of the terminal event shows whether the response is complete; the event repeats all of it. */
function finishOfStream(tail: Uint8Array): FinishReason | null {
  const completed = lastIndexOfNeedle(tail, COMPLETED);
  const start = completed === -1 ? lastIndexOfNeedle(tail, INCOMPLETE) : completed;
  if (start === -1) return null;
  const event = tail.subarray(start);
  if (completed !== -1) return finishOf({ status: 'completed' }, hasCall(event));
  const reason = lastTextField(event, { key: REASON, kind: 'stream', maxDepth: 3 }, notEmpty);
  return finishOf({ status: 'incomplete', incomplete_details: { reason } }, false);
}

function finishOfBody(body: Uint8Array): FinishReason | null {
  const open = skipSpace(body, 0);
  if (body[open] !== OPEN_OBJECT) return null;
  const fields: ResponsesAnswer = {};
  const cursor = new JsonCursor(body, open, null);
  while (cursor.next() && cursor.end() !== -1) {
    const name = latin1Text(body, cursor.nameStart + 1, cursor.nameEnd - 1);
    if (name === 'status') fields.status = stringOf(cursor.text());
    if (name === 'incomplete_details') fields.incomplete_details = parseObject(cursor.text());
    // The vendor has it before the output, which need not be walked through then.
    if (fields.status === 'completed') break;
  }
  if (fields.status !== 'completed' && fields.status !== 'incomplete') return null;
  return finishOf(fields, hasCall(body));
}

function hasCall(bytes: Uint8Array): boolean {
  return calls.some((call) => holds(bytes, call));
}
