import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonObject, listOf, objectOf } from '../../src/codecs/json/values.ts';
import { translated, translating } from '../support/formats/translating.ts';

/** A user who says nothing has had a turn all the same: without it the model would go on with its own words. */
type Turns = readonly (readonly ['user' | 'assistant', string])[];

const asMessages = (turns: Turns): JsonObject => ({
  model: 'm',
  messages: turns.map(([role, content]) => ({ role, content })),
});
const clients = {
  'openai-chat': asMessages,
  'openai-responses': (turns: Turns) => ({
    model: 'm',
    input: turns.map(([role, content]) => ({ role, content })),
  }),
  'anthropic-messages': (turns: Turns) => ({ max_tokens: 5, ...asMessages(turns) }),
  gemini: (turns: Turns) => ({
    contents: turns.map(([role, text]) => ({ role: role === 'user' ? role : 'model', parts: [{ text }] })),
  }),
  ollama: asMessages,
} as const;
type Client = keyof typeof clients;
const formats = Object.keys(clients) as Client[];

const talks: readonly Turns[] = [
  [['user', '']],
  [
    ['user', 'a'],
    ['assistant', 'b'],
    ['user', ''],
  ],
  [
    ['user', 'a'],
    ['assistant', 'b'],
    ['user', ''],
    ['assistant', 'c'],
    ['user', 'd'],
  ],
];

function rolesIn({ contents, input, messages }: JsonObject): unknown[] {
  return listOf(messages ?? input ?? contents).map((turn) => objectOf(turn)['role']);
}

for (const from of formats)
  describe(`an empty turn of a client of ${from}`, () => {
    for (const to of formats.filter((format) => format !== from))
      it(`stays a turn for ${to}`, () => {
        for (const turns of talks) {
          const { body } = translated(clients[from](turns), translating(from), translating(to));
          const roles = turns.map(([role]) => (role === 'assistant' && to === 'gemini' ? 'model' : role));
          assert.deepEqual(rolesIn(body), roles);
        }
      });
  });
