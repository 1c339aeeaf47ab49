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

const text: Shape = { text: isText };
const spoken: readonly Shape[] = [
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
const answer: Shape = { role: is('model'), parts: partsOf(spoken) };
const question: Shape = { role: is('user'), parts: partsOf(userParts) };

/** Requests of Gemini's generateContent. */
export const exchange: ExchangeShape = {
  list: 'contents',
  side: (entry) => (fits(entry, answer) ? 'answer' : fits(entry, question) ? 'question' : null),
  exchange: (id, name, result) => [
    { role: 'model', parts: [{ functionCall: { id, name, args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { id, name, response: { output: result } } }] },
  ],
  withIds(entries, counts) {
    const named: unknown[] = [];
    for (const entry of entries) {
      if (!isObject(entry) || !Array.isArray(entry['parts'])) return null;
      const parts: unknown[] = [];
      for (const part of listOf(entry['parts'])) {
        const own = isObject(part) ? withId(part, counts) : null;
        if (own === null) return null;
        parts.push(own);
      }
      named.push({ ...entry, parts });
    }
    return named;
  },
};

/** A part with the id of its call; null for one that a server may read as a call by another name, or in pieces. */
function withId(part: JsonObject, counts: Map<string, number>): JsonObject | null {
  const { functionCall: call } = part;
  if (call === undefined) return part['function_call'] === undefined ? part : null;
  if (!fits(call, { id: isTextOrNone, name: isText, args: (args) => args === undefined || isObject(args) }))
    return null;
  if (call['id'] !== undefined && call['id'] !== null && call['id'] !== '') return part;
  const name = String(call['name']);
  const ordinal = counts.get(name) ?? 0;
  counts.set(name, ordinal + 1);
  return { ...part, functionCall: { ...call, id: `call_${name}_${ordinal}` } };
}
