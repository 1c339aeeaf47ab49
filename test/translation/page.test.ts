import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { adapt, wordsOf } from '../../src/codecs/adapt/adapt.ts';
import type { Concept } from '../../src/codecs/model/concept.ts';
import { concepts } from '../../src/codecs/model/concept.ts';
import {
  type Conversation,
  emptyConversation,
  type FunctionTool,
  type Part,
  type WebSearchTool,
} from '../../src/codecs/model/conversation.ts';
import { plainDialect } from '../../src/codecs/model/dialect.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { type Conversing, conversing } from '../support/formats/formats-matrix.ts';
import { translating } from '../support/formats/translating.ts';

/** docs/translation.md says what happens: each of its rows "from format to format" is held against a translation. */
const page = readFileSync(join(import.meta.dirname, '../../docs/translation.md'), 'utf8');

interface Row {
  left: string;
  refused: string;
}

function rowOf(from: Conversing, to: Conversing): Row {
  const section = page.slice(page.indexOf(`### From \`${from}\``));
  const line = section.split('\n').find((one) => one.startsWith(`| \`${to}\` |`)) ?? '';
  const [, , left = '', refused = ''] = line.split('|');
  return { left, refused };
}

const said = (part: Part): Partial<Conversation> => ({ messages: [{ role: 'user', parts: [part] }] });
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const png = { kind: 'data' as const, mediaType: 'image/png', base64: PNG };
const pdf = { kind: 'data' as const, mediaType: 'application/pdf', base64: 'JVBERi0=' };
const tool: FunctionTool = { kind: 'function', name: 'f', description: null, schema: null, strict: null };
const search: WebSearchTool = {
  kind: 'web-search',
  maxUses: null,
  allowedDomains: null,
  blockedDomains: null,
  location: null,
  native: { format: 'openai-embeddings', value: {} },
};

/** A request that asks for one thing, and for as little else as that goes with. */
const samples: Readonly<Partial<Record<Concept, Partial<Conversation>>>> = {
  temperature: { temperature: 0.5 },
  topP: { topP: 0.5 },
  topK: { topK: 5 },
  stop: { stop: ['END'] },
  seed: { seed: 1 },
  frequencyPenalty: { frequencyPenalty: 1 },
  presencePenalty: { presencePenalty: 1 },
  candidates: { candidates: 2 },
  logprobs: { logprobs: 1 },
  jsonOutput: { output: { kind: 'json' } },
  verbosity: { verbosity: 'low' },
  userId: { userId: 'ann' },
  cacheMarks: said({ type: 'text', text: 'hi', cache: { ttl: null } }),
  serviceTier: { serviceTier: 'flex' },
  metadata: { metadata: { label: 'a' } },
  store: { store: true },
  tools: { tools: [tool] },
  imageInput: said({ type: 'image', source: png }),
  imageDetail: said({ type: 'image', source: png, detail: 'low' }),
  audioInput: said({ type: 'audio', format: 'wav', base64: 'AAAA' }),
  fileInput: said({ type: 'file', source: pdf }),
  citedDocuments: said({ type: 'file', source: { kind: 'text', text: 'a' }, citations: true }),
  strictTools: { tools: [{ ...tool, strict: true, schema: { type: 'object', properties: {} } }] },
  assistantNames: { messages: [{ role: 'assistant', name: 'bot', parts: [{ type: 'text', text: 'a' }] }] },
  webSearch: { tools: [search] },
  searchDomains: { tools: [{ ...search, allowedDomains: ['a.test'] }] },
  searchLocation: { tools: [{ ...search, location: { city: 'Bern' } }] },
  searchUses: { tools: [{ ...search, maxUses: 2 }] },
};

type Fate = 'carried' | 'left out' | 'refused';

/** Null where the request is refused for the sake of something else that it needs. */
function fateOf(concept: Concept, from: Conversing, to: Conversing, word: string): Fate | null {
  const dialect = { ...plainDialect, vendorFields: true, cacheFields: true };
  const whole = { ...emptyConversation('m'), ...samples[concept] };
  try {
    const route = { from: translating(from), to: translating(to), dialect, model: 'm', owner: null };
    return adapt(whole, route).dropped.includes(word) ? 'left out' : 'carried';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.param === word ? 'refused' : null;
  }
}

/** What the page says: a word with a note is left out for some providers of the format only. */
function fateOnPage({ left, refused }: Row, word: string): Fate {
  const has = (cell: string) =>
    cell.split(', ').some((one) => one.trim() === `\`${word}\`` || one.trim().startsWith(`\`${word}\` (`));
  if (has(refused)) return 'refused';
  return has(left) ? 'left out' : 'carried';
}

describe('docs/translation.md', () => {
  for (const from of conversing) {
    for (const to of conversing) {
      if (to === from) continue;
      it(`says what becomes of a request from ${from} to ${to}`, () => {
        const words = wordsOf(translating(from).conversation);
        const shared = new Set(Object.values(words).filter((word, at, all) => all.indexOf(word) !== at));
        for (const concept of Object.keys(samples) as Concept[]) {
          const word = words[concept];
          // A word for several things is told apart in words, which are for people.
          if (word === undefined || shared.has(word) || concepts[concept].without === 'tell') continue;
          const fate = fateOf(concept, from, to, word);
          if (fate !== null) assert.equal(fateOnPage(rowOf(from, to), word), fate, concept);
        }
      });
    }
  }
});
