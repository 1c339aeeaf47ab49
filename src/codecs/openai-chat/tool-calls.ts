import { encryptedReasoningOf } from '../gemini/signature.ts';
import { numberOf } from '../json/lossless.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from '../json/values.ts';
import type { EncryptedReasoning } from '../model/conversation.ts';
import type { Called, ExtraContent, GoogleExtra, Signable, ToolCall } from './wire.ts';

/** One call being collected. */
export interface CallSlot {
  index: number | null;
  /** The call so far, without `index`, in the shape of a complete answer. */
  call: ToolCall;
}

/**
 * Adds the `tool_calls` of one delta to the calls of one choice. Vendors differ: an id on every delta or only
 * on the first, no index, index 0 for every call, names and arguments whole or in pieces, arguments as an
 * object. A delta belongs to the call with its id, else to the latest call with its index, else to the latest.
 */
export function addToolCalls(slots: CallSlot[], deltas: unknown): void {
  for (const delta of callsIn(deltas)) addToolCall(slots, delta);
}

/**
 * The calls, or pieces of calls, in a field `tool_calls`. Some servers write a single one without the list, or its name
 * and arguments without the `function` around them.
 */
export function callsIn(value: unknown): ToolCall[] {
  return (isObject(value) ? [value] : listOf(value).filter(isObject)).map(nested);
}

function nested(call: ToolCall): ToolCall {
  const { arguments: args, name, ...rest } = call;
  if (isObject(call.function) || isObject(call.custom)) return call;
  if (args === undefined && name === undefined) return call;
  return { ...rest, function: { ...(name === undefined ? {} : { name }), arguments: args } };
}

/**
 * What a call is of: `type` decides, for some servers write an empty `custom` beside a function (Snowflake). Without a
 * type, and where what it names is missing, it is what has a name.
 */
export function kindOf({ custom, function: called, type }: ToolCall): 'function' | 'custom' {
  if (!isObject(custom)) return 'function';
  if (!isObject(called) || type === 'custom') return 'custom';
  return type === 'function' || textOf(objectOf<Called>(custom).name) === '' ? 'function' : 'custom';
}

/** The same for one delta; gives the call that it belongs to. */
export function addToolCall(slots: CallSlot[], delta: ToolCall): CallSlot {
  const slot = slotFor(slots, delta) ?? openSlot(slots, delta);
  extend(slot.call, delta);
  return slot;
}

/**
 * The arguments of a function, or the input of a custom tool.
 * @param piece a delta of the call, where its own are wanted
 */
export function inputIn(call: ToolCall, piece: ToolCall = call): string {
  const { arguments: args, input } = objectOf<Called>(piece[kindOf(call)]);
  return argumentText(args ?? input);
}

/** The name of the tool, as far as it is known. */
export function nameIn(call: ToolCall): string {
  return textOf(objectOf<Called>(call[kindOf(call)]).name);
}

/** Google's signature of the thoughts before a call, in the format of its own chat API ("Thought signatures", OpenAI compatibility). */
export function signatureOfCall(call: Signable): EncryptedReasoning | null {
  const { google } = objectOf<ExtraContent>(call.extra_content);
  return encryptedReasoningOf(textOf(objectOf<GoogleExtra>(google).thought_signature));
}

/** The fields of a call that contain such encrypted reasoning. */
export function signatureFields(thought_signature: string | null): Signable {
  return thought_signature === null ? {} : { extra_content: { google: { thought_signature } } };
}

function openSlot(slots: CallSlot[], delta: ToolCall): CallSlot {
  const slot: CallSlot = { index: indexOf(delta), call: {} };
  slots.push(slot);
  return slot;
}

function slotFor(slots: CallSlot[], delta: ToolCall): CallSlot | undefined {
  const id = textOf(delta.id);
  const index = indexOf(delta);
  if (id !== '') {
    const slot = slots.findLast((slot) => slot.call.id === id && (index === null || slot.index === index));
    if (slot !== undefined) return slot;
  }
  const candidate = index === null ? slots.at(-1) : slots.findLast((slot) => slot.index === index);
  if (candidate === undefined) return undefined;
  const candidateId = textOf(candidate.call.id);
  // Some give every piece an id of its own: what has a name is a call, what has none continues one.
  const isPiece = index !== null && nameIn(delta) === '' && nameIn(candidate.call) !== '';
  if (id !== '' && candidateId !== '' && !isPiece) return undefined;
  return startsAnother(candidate.call, delta) ? undefined : candidate;
}

function indexOf(delta: ToolCall): number | null {
  return numberOf(delta.index);
}

/** A delta that names another function begins the next call, and so does one that names the same again after complete arguments. */
function startsAnother(call: ToolCall, delta: ToolCall): boolean {
  const [before, now] = [nameIn(call), nameIn(delta)];
  if (now === '' || before === '') return false;
  return now !== before || (isWhole(inputIn(call)) && inputIn(delta) !== '');
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function extend(call: ToolCall & JsonObject, delta: ToolCall): void {
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'index' || key === '__proto__') continue;
    if ((key === 'function' || key === 'custom') && isObject(value))
      call[key] = extendPart(objectOf(call[key]), value);
    else if (key === 'id' && textOf(call.id) !== '') continue;
    else if (value !== null && value !== '') call[key] = value;
    else if (call[key] === undefined) call[key] = value;
  }
}

function extendPart(part: JsonObject, delta: JsonObject): JsonObject {
  const result = { ...part };
  for (const [key, value] of Object.entries(delta)) {
    if (key === '__proto__') continue;
    if (key === 'arguments' || key === 'input') result[key] = textOf(result[key]) + argumentText(value);
    else if (value !== null && value !== '') result[key] = value;
    else if (result[key] === undefined) result[key] = value;
  }
  return result;
}

function argumentText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The finished calls. A function called without arguments has `{}`, unless the answer was cut off there. */
export function finishedCalls(slots: readonly CallSlot[], cutOff: boolean): ToolCall[] {
  return slots.map(({ call }) => {
    const fn = call.function;
    const whole = { ...call, type: call.type ?? kindOf(call) };
    if (!isObject(fn) || kindOf(call) === 'custom' || cutOff || textOf(objectOf<Called>(fn).arguments) !== '')
      return whole;
    return { ...whole, function: { ...fn, arguments: '{}' } };
  });
}
