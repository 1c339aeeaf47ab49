import {
  type ExchangeShape,
  fits,
  is,
  isText,
  isTextOrNone,
  listOfAll,
  type Shape,
} from '../../exchanges/shape.ts';
import { isObject, type JsonObject, listOf } from '../../json/values.ts';
import type { Content, ContentPart, FunctionCall } from '../wire.ts';

const text: Shape = { text: isText };
const modelParts: readonly Shape[] = [
  {
    text: isText,
    thoughtSignature: isTextOrNone,
    thought: (value) => value === undefined || typeof value === 'boolean',
  },
  {
    functionCall: (value) =>
      fits(value, { id: isTextOrNone, name: isText, args: (args) => args === undefined || isObject(args) }),
    thoughtSignature: isTextOrNone,
  },
];
const userParts: readonly Shape[] = [
  text,
  { functionResponse: (value) => fits(value, { id: isTextOrNone, name: isText, response: isObject }) },
];
const partsOf = (shapes: readonly Shape[]) => listOfAll((part) => shapes.some((shape) => fits(part, shape)));
const answer: Shape = { role: is('model'), parts: partsOf(modelParts) };
const question: Shape = { role: is('user'), parts: partsOf(userParts) };

/** Requests of Gemini's generateContent. */
export const exchange: ExchangeShape = {
  list: 'contents',
  nestsArguments: false,
  side: (entry) => (fits(entry, answer) ? 'answer' : fits(entry, question) ? 'question' : null),
  exchange: (id, name, result) => [
    { role: 'model', parts: [{ functionCall: { id, name, args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { id, name, response: { output: result } } }] },
  ],
  withIds(entries, counts) {
    const entriesWithIds: unknown[] = [];
    for (const entry of entries) {
      const { parts: before }: Content = isObject(entry) ? entry : {};
      if (!isObject(entry) || !Array.isArray(before)) return null;
      const parts: unknown[] = [];
      for (const part of listOf(before)) {
        const own = isObject(part) ? withId(part, counts) : null;
        if (own === null) return null;
        parts.push(own);
      }
      entriesWithIds.push({ ...entry, parts });
    }
    return entriesWithIds;
  },
};

/** A part with the id of its call; null for one that a server may read as a call by another name, or in pieces. */
function withId(part: JsonObject, counts: Map<string, number>): JsonObject | null {
  const { functionCall: call, function_call: otherCall }: ContentPart = part;
  if (call === undefined) return otherCall === undefined ? part : null;
  if (!fits(call, { id: isTextOrNone, name: isText, args: (args) => args === undefined || isObject(args) }))
    return null;
  const { id, name: toolName }: FunctionCall = call;
  if (id !== undefined && id !== null && id !== '') return part;
  const name = String(toolName);
  const ordinal = counts.get(name) ?? 0;
  counts.set(name, ordinal + 1);
  return { ...part, functionCall: { ...call, id: `call_${name}_${ordinal}` } };
}
