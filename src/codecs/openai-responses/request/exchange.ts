import {
  type ExchangeShape,
  fits,
  fitsItsType,
  is,
  isNothing,
  isText,
  isTextOrNone,
  listOfAll,
  type Shape,
} from '../../exchanges/shape.ts';

const ofItem: Shape = { id: isTextOrNone, status: isTextOrNone };
const input: Shape = { type: is('input_text'), text: isText };
const output: Shape = { type: is('output_text'), text: isText, annotations: isNothing, logprobs: isNothing };
const summary: Shape = { type: is('summary_text'), text: isText };
const inputs = listOfAll((part) => fits(part, input));
const outputs = listOfAll((part) => fits(part, output));
const summaries = listOfAll((part) => fits(part, summary));
const words = (value: unknown) => isText(value) || inputs(value);

const answers: Readonly<Record<string, Shape>> = {
  message: {
    ...ofItem,
    type: is('message'),
    role: is('assistant'),
    content: (value) => isText(value) || outputs(value),
  },
  reasoning: {
    ...ofItem,
    type: isText,
    summary: (value) => isNothing(value) || summaries(value),
    content: isNothing,
    encrypted_content: isTextOrNone,
  },
  function_call: { ...ofItem, type: isText, call_id: isText, name: isText, arguments: isText },
};
const questions: Readonly<Record<string, Shape>> = {
  message: {
    ...ofItem,
    type: is('message'),
    role: (value) => value === 'user' || value === 'system' || value === 'developer',
    content: words,
  },
  function_call_output: { ...ofItem, type: isText, call_id: isText, output: words },
};

/** Requests of OpenAI's responses. */
export const exchange: ExchangeShape = {
  list: 'input',
  nestsArguments: true,
  side(entry) {
    if (fitsItsType(entry, answers)) return 'answer';
    return fitsItsType(entry, questions) ? 'question' : null;
  },
  exchange: (id, name, result) => [
    { type: 'function_call', call_id: id, name, arguments: '{}' },
    { type: 'function_call_output', call_id: id, output: result },
  ],
};
