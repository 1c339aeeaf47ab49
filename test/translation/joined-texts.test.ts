import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adapt } from '../../src/codecs/adapt/adapt.ts';
import {
  type Conversation,
  emptyConversation,
  type Message,
  type Part,
  type TextPart,
} from '../../src/codecs/model/conversation.ts';
import { type Dialect, plainDialect } from '../../src/codecs/model/dialect.ts';
import { mistral } from '../../src/providers/mistral.ts';
import { openai } from '../../src/providers/openai.ts';
import { conversing, type Pair, pairs } from '../support/formats/formats-matrix.ts';
import { translating } from '../support/formats/translating.ts';
import { fc } from '../support/machine/properties.ts';

/**
 * Nothing stands between the pieces of what a model or a tool wrote, in any format: a text may be cut in the middle of
 * a sentence (Anthropic's cited sentences) or of JSON (a tool's result in parts).
 */
const written = fc.array(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }).filter((text) => text.trim() !== ''),
  { minLength: 1, maxLength: 4 },
);
const dialects: Readonly<Record<string, Dialect>> = {
  plain: plainDialect,
  "OpenAI's": { ...plainDialect, ...openai.dialect },
  "Mistral's": { ...plainDialect, ...mistral.dialect },
};

const textsOf = (texts: readonly string[]): TextPart[] => texts.map((text) => ({ type: 'text', text }));

interface Said {
  instructions: string[];
  asked: string[];
  answered: string[];
  result: string[];
}

function conversationOf({ answered, asked, instructions, result }: Said, tools: boolean): Conversation {
  const call: Part = { type: 'tool-call', id: 'call_1', name: 'look', input: '{}', kind: 'function' };
  const given: Part = {
    type: 'tool-result',
    callId: 'call_1',
    isError: false,
    kind: 'function',
    parts: textsOf(result),
  };
  const messages: Message[] = [
    { role: 'user', parts: textsOf(asked) },
    { role: 'assistant', parts: [...textsOf(answered), ...(tools ? [call] : [])] },
    ...(tools ? [{ role: 'user' as const, parts: [given] }] : []),
    { role: 'user', parts: [{ type: 'text', text: 'next' }] },
  ];
  return { ...emptyConversation('m'), system: textsOf(instructions), messages };
}

/** What a server of the format reads. */
function arrived(whole: Conversation, { client, upstream }: Pair, dialect: Dialect): Conversation {
  const [from, to] = [translating(client), translating(upstream)];
  const asked = from.conversation.decodeRequest({
    ...from.conversation.encodeRequest(whole, plainDialect),
    model: 'm',
  });
  const { conversation } = adapt(asked, { from, to, dialect, model: 'm', owner: null });
  return to.conversation.decodeRequest({
    ...to.conversation.encodeRequest(conversation, dialect),
    model: 'm',
  });
}

function textsIn(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
}

function resultTexts({ messages }: Conversation): string[] {
  return messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'tool-result' ? textsIn(part.parts) : [])),
  );
}

for (const pair of pairs) {
  const tools = pair.upstream !== 'openai-completions' && pair.client !== 'openai-completions';
  describe(`texts from ${pair.client} to ${pair.upstream}`, () => {
    it('of models and tools arrive as they were written, and blocks of the client stay apart', () => {
      fc.assert(
        fc.property(
          fc.record({ instructions: written, asked: written, answered: written, result: written }),
          fc.constantFrom(...Object.keys(dialects)),
          (said, name) => {
            const read = arrived(conversationOf(said, tools), pair, dialects[name] ?? plainDialect);
            if (pair.upstream === 'openai-completions' || pair.client === 'openai-completions') {
              const all = JSON.stringify(read.messages);
              assert.ok(all.includes(inner(said.answered.join(''))));
              return;
            }
            const answer = read.messages.find(({ role }) => role === 'assistant');
            assert.equal(textsIn(answer?.parts ?? []).join(''), said.answered.join(''));
            assert.equal(resultTexts(read).join(''), said.result.join(''));
            const question = textsIn(read.messages[0]?.parts ?? []).join('\n\n');
            assert.equal(question, said.asked.join('\n\n'));
          },
        ),
        { numRuns: 60 },
      );
    });
  });
}

const inner = (text: string) => JSON.stringify(text).slice(1, -1);

describe('servers that take lists of texts', () => {
  const said: Said = {
    instructions: ['be', 'brief'],
    asked: ['one', 'two'],
    answered: ['a'],
    result: ['{"a":"x', 'y"}'],
  };
  const parts = ({ messages, system }: Conversation) => ({
    system: textsIn(system),
    asked: textsIn(messages[0]?.parts ?? []),
  });
  for (const client of conversing.filter((format) => format === 'anthropic-messages' || format === 'gemini'))
    for (const upstream of ['openai-chat', 'openai-responses', 'gemini', 'anthropic-messages'] as const)
      it(`keep the parts of a request from ${client} to ${upstream}`, () => {
        const dialect = { ...plainDialect, ...openai.dialect };
        const read = arrived(conversationOf(said, true), { client, upstream }, dialect);
        assert.deepEqual(parts(read), { system: said.instructions, asked: said.asked });
        // Google joins the pieces of a result: its response is an object.
        const joined = client === 'gemini' || upstream === 'gemini';
        assert.deepEqual(resultTexts(read), joined ? [said.result.join('')] : said.result);
      });
});
