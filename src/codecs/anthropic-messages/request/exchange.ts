import {
  type ExchangeShape,
  fits,
  fitsItsType,
  is,
  isText,
  listOfAll,
  type Shape,
} from '../../exchanges/shape.ts';
import { isObject } from '../../json/values.ts';

const text: Shape = { type: is('text'), text: isText };
const assistantBlocks: Readonly<Record<string, Shape>> = {
  text,
  thinking: { type: isText, thinking: isText, signature: isText },
  redacted_thinking: { type: isText, data: isText },
  tool_use: { type: isText, id: isText, name: isText, input: isObject },
};
const texts = listOfAll((block) => fits(block, text));
const userBlocks: Readonly<Record<string, Shape>> = {
  text,
  tool_result: {
    type: isText,
    tool_use_id: isText,
    content: (value) => typeof value === 'string' || texts(value),
    is_error: (value) => value === undefined || typeof value === 'boolean',
  },
};

/** Blocks of one of some kinds. */
function blocksOf(kinds: Readonly<Record<string, Shape>>) {
  return listOfAll((block) => fitsItsType(block, kinds));
}

const assistantContent = blocksOf(assistantBlocks);
const userContent = blocksOf(userBlocks);
const answer: Shape = { role: is('assistant'), content: (value) => isText(value) || assistantContent(value) };
const questions: readonly Shape[] = [
  { role: is('user'), content: (value) => isText(value) || userContent(value) },
  // Reminders that Claude Code adds between the turns.
  { role: is('system'), content: (value) => isText(value) || texts(value) },
];

/** Requests of Anthropic's messages. */
export const exchange: ExchangeShape = {
  list: 'messages',
  nestsArguments: false,
  side(entry) {
    if (fits(entry, answer)) return 'answer';
    return questions.some((shape) => fits(entry, shape)) ? 'question' : null;
  },
  exchange: (id, name, result) => [
    { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
  ],
};
