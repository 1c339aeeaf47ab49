import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { adapt } from '../../src/codecs/adapt/adapt.ts';
import type { ConversationCodec } from '../../src/codecs/codec.ts';
import { codecs } from '../../src/codecs/index.ts';
import { type Concept, type ConceptNames, concepts } from '../../src/codecs/model/concept.ts';
import type { Conversation, Part } from '../../src/codecs/model/conversation.ts';
import { plainDialect } from '../../src/codecs/model/dialect.ts';
import { openaiChat } from '../../src/codecs/openai-chat/codec.ts';
import type { Codec } from '../../src/codecs/wire-codec.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { openai } from '../../src/providers/openai.ts';
import { conversations } from '../support/formats/arbitrary.ts';
import { fc } from '../support/machine/properties.ts';

/**
 * Nothing is dropped in silence: what a conversation asks for is asked for by the request that is sent, or named, or
 * refused. Whether it is asked for is seen by reading the request back.
 */
type Translating = Codec & { conversation: ConversationCodec };
const translating = codecs.filter((codec): codec is Translating => codec.conversation !== null);
const all = Object.keys(concepts) as Concept[];

/** A client's format in which everything can be said, each concept by its own name. */
const speaking = Object.fromEntries(all.map((concept) => [concept, concept])) as ConceptNames;
function everything(format: WireFormat): Translating {
  const { conversation } = openaiChat;
  assert.ok(conversation !== null);
  return { ...openaiChat, format, conversation: { ...conversation, names: speaking } };
}

const models = [
  'some-model',
  'claude-sonnet-5',
  'claude-opus-4-6',
  'claude-3-7-sonnet',
  'gemini-3-pro',
  'gemini-2.5-pro',
  'gpt-5.4',
  'gpt-4o',
];
const dialects = { plain: plainDialect, "OpenAI's": { ...plainDialect, ...openai.dialect } };

/** What is not asked for in a request, and was not named. */
function silent(whole: Conversation, to: Translating, model: string, dialect: typeof plainDialect): string[] {
  const from = everything(to.format === 'openai-chat' ? 'openai-responses' : 'openai-chat');
  const unencodable: Concept[] = [];
  const { conversation, dropped } = adapt(whole, { from, to, dialect, model, owner: null });
  const body = to.conversation.encodeRequest({ ...conversation, model }, dialect, unencodable);
  const read = to.conversation.decodeRequest({ ...body, model });
  return all.filter(
    (concept) =>
      concepts[concept].isRequested(whole) &&
      !concepts[concept].isRequested(read) &&
      !isOtherwiseSaid(concept, { whole, read, dropped, to, body: JSON.stringify(body) }) &&
      !dropped.includes(concept) &&
      !unencodable.includes(concept),
  );
}

interface Sent {
  to: Translating;
  whole: Conversation;
  read: Conversation;
  body: string;
  dropped: readonly string[];
}

/** What is asked for in other words than those of the concept. */
function isOtherwiseSaid(concept: Concept, { body, dropped, read, to, whole }: Sent): boolean {
  switch (concept) {
    case 'temperature':
      // The nearest that the format takes.
      return read.temperature !== null;
    case 'reasoning':
      // As much as the model sees fit: that is what silence means.
      return (
        whole.reasoning?.effort === null && whole.reasoning.budgetTokens === null && read.reasoning === null
      );
    case 'jsonOutput':
      // An instruction.
      return body.includes('JSON object');
    case 'cacheKey':
      // By marks, on prompts that are long enough (`cache-marks.ts`).
      return to.conversation.markCache !== undefined;
    case 'strictTools':
      // Named by the tool; a tool that may not be called may be left out.
      return dropped.some((word) => /^tools\..*\.strict$/.test(word)) || whole.toolChoice?.kind === 'allowed';
    case 'fileNames':
    case 'schemaDescription':
    case 'participants':
      // In the text, of which the format has a place for every piece.
      return concepts[concept].without === 'tell';
    case 'fileInput':
      // A file that is text is sent as text.
      return !whole.messages.some(({ parts }) => parts.some(isBinaryFile));
    case 'parallelToolCalls':
      // Not said, but held to: calls after the first are taken out of the answer (`codecs/adapt/one-call.ts`).
      return true;
    case 'allowedTools':
      // Likewise (`codecs/adapt/allowed-tools.ts`).
      return true;
    case 'tools':
      return whole.toolChoice?.kind === 'none';
    default:
      return false;
  }
}

function isBinaryFile(part: Part): boolean {
  if (part.type === 'tool-result') return part.parts.some(isBinaryFile);
  return part.type === 'file' && part.source.kind !== 'text';
}

for (const to of translating) {
  for (const [whose, dialect] of Object.entries(dialects)) {
    describe(`a request to ${to.format} in ${whose} dialect`, () => {
      it('expresses everything in the conversation, or reports what it drops', () => {
        fc.assert(
          fc.property(conversations(to.format), fc.constantFrom(...models), (whole, model) => {
            try {
              assert.deepEqual(silent(whole, to, model, dialect), []);
            } catch (error) {
              if (!(error instanceof GatewayError)) throw error;
              assert.equal(error.code, 'not_translatable');
            }
          }),
          { numRuns: 500 },
        );
      });
    });
  }
}
