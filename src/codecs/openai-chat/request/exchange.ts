import {
  type ExchangeShape,
  fits,
  is,
  isNoText,
  isNothing,
  isText,
  isTextOrNone,
  listOfAll,
  type Shape,
} from '../../exchanges/shape.ts';

const text: Shape = { type: is('text'), text: isText };
const texts = listOfAll((part) => fits(part, text));
const call: Shape = {
  id: isText,
  type: is('function'),
  function: (value) => fits(value, { name: isText, arguments: isText }),
};
const calls = listOfAll((one) => fits(one, call));
const answer: Shape = {
  role: is('assistant'),
  content: (value) => isTextOrNone(value) || texts(value),
  tool_calls: (value) => isNothing(value) || calls(value),
  reasoning_content: isTextOrNone,
  // What SDKs write that send an answer back as they got it.
  refusal: isNoText,
  annotations: isNothing,
  audio: isNothing,
  function_call: isNothing,
};
const words = (value: unknown) => isText(value) || texts(value);
const questions: readonly Shape[] = [
  { role: is('tool'), tool_call_id: isText, content: words },
  { role: is('user'), content: words },
  { role: is('system'), content: words },
  { role: is('developer'), content: words },
];

/** Requests of chat completions. */
export const exchange: ExchangeShape = {
  list: 'messages',
  nestsArguments: true,
  side(entry) {
    if (fits(entry, answer)) return 'answer';
    return questions.some((shape) => fits(entry, shape)) ? 'question' : null;
  },
  exchange: (id, name, result) => [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: id, content: result },
  ],
};
