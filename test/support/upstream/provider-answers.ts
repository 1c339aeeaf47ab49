import { SAID as said, THOUGHT as thought } from './native-quirks.ts';
import type { Quirks } from './provider-quirks.ts';

/** What holds the reasoning and the text, as a message of the provider has them. */
function contentOf({ reasoning }: Quirks, text: string, thinking: string): object {
  switch (reasoning) {
    case null:
      return { content: text };
    case 'parts':
      return {
        content: [
          ...(thinking === '' ? [] : [{ type: 'thinking', thinking: [{ type: 'text', text: thinking }] }]),
          ...(text === '' ? [] : [{ type: 'text', text }]),
        ],
      };
    case 'reasoning_details':
      return {
        content: text,
        ...(thinking === ''
          ? {}
          : { reasoning_details: [{ type: 'reasoning.text', text: thinking, index: 0 }] }),
      };
    default:
      return { content: text, ...(thinking === '' ? {} : { [reasoning]: thinking }) };
  }
}

/** A whole answer of the provider's chat surface that thought and says something. */
export function chatWholeOf(quirks: Quirks): object {
  const message = { role: 'assistant', ...contentOf(quirks, said, thought) };
  return {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: quirks.model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: quirks.usage,
  };
}

/** The stream of the same answer, with the use where the provider reports it. */
export function chatStreamOf(quirks: Quirks): string {
  const { model, usage, usageAt } = quirks;
  const chunk = (choices: object[], more: object = {}) =>
    `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model, choices, ...more })}\n\n`;
  const delta = (value: object) => chunk([{ index: 0, delta: value, finish_reason: null }]);
  const last = { index: 0, delta: {}, finish_reason: 'stop' };
  const end = {
    empty: () => chunk([last]) + chunk([], { usage }),
    last: () => chunk([last], { usage }),
    choice: () => chunk([{ ...last, usage }]),
    x_groq: () => chunk([last], { x_groq: { id: 'req_1', usage } }),
  }[usageAt];
  return [
    delta({ role: 'assistant', content: '' }),
    ...(quirks.reasoning === null ? [] : [delta(contentOf(quirks, '', thought))]),
    delta(contentOf(quirks, said, '')),
    end(),
    'data: [DONE]\n\n',
  ].join('');
}
