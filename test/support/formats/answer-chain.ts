import assert from 'node:assert/strict';
import type { JsonObject } from '../../../src/codecs/json/values.ts';
import type { StreamPart } from '../../../src/codecs/model/stream-part.ts';
import type { WireFormat } from '../../../src/codecs/wire-format.ts';
import type { Target } from '../../../src/combos/routing/resolve.ts';
import type { Frame } from '../../../src/lib/streams/sse.ts';
import { anthropic } from '../../../src/providers/anthropic.ts';
import { gemini } from '../../../src/providers/gemini.ts';
import { ollama } from '../../../src/providers/ollama.ts';
import { openai } from '../../../src/providers/openai.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { answerFrames, answerParts } from '../../../src/proxy/translate/answer-chain.ts';
import {
  conversationCodec,
  type TranslatedRequest,
  translateRequest,
} from '../../../src/proxy/translate/request.ts';
import type { Conversing } from './formats-matrix.ts';
import { translated, translating } from './translating.ts';

/** Who made each format: a target of the format has its dialect. */
const vendors: Readonly<Record<Conversing, Provider>> = {
  'openai-chat': openai,
  'openai-completions': openai,
  'openai-responses': openai,
  'anthropic-messages': anthropic,
  gemini,
  ollama,
};

export function vendorTarget(format: WireFormat): Target {
  const provider = vendors[format as Conversing];
  const connection = { id: 'con_vendor', name: 'vendor' } as Target['connection'];
  return { connection, provider, model: 'target-model', format };
}

/** A request that was translated, and whose answer is now read for the client. */
export interface Asked {
  client: WireFormat;
  target: Target;
  request: TranslatedRequest;
}

/** A client's request that offers functions of these names, and wants to see the model think. */
export function askedWith(client: WireFormat, upstream: WireFormat, functions: readonly string[]): Asked {
  const parameters = { type: 'object', properties: {} };
  const offered = client === 'openai-completions' || upstream === 'openai-completions' ? [] : functions;
  const wanted: JsonObject = {
    model: 'asked/model',
    input: 'hi',
    stream: true,
    reasoning: { effort: 'medium', summary: 'auto' },
    tools: offered.map((name) => ({ type: 'function', name, parameters, strict: false })),
  };
  const { body } = translated(wanted, translating('openai-responses'), translating(client));
  const named =
    conversationCodec(client).pathOf === null ? null : { model: 'asked/model', stream: true, array: false };
  const target = vendorTarget(upstream);
  const asked = { body: [Buffer.from(JSON.stringify(body))], named, target };
  return { client, target, request: translateRequest(asked, client) };
}

const answer = { id: 'req_golden', model: 'asked/model', startedAt: 1_790_000_000_000 };

/** The parts of an answer, by every stage that the gateway has. */
export function partsOf({ request, target }: Asked, frames: readonly Frame[]): StreamPart[] {
  const reader = answerParts({ target, request, compactionOf: null, prefix: null });
  return [...frames.flatMap((frame) => reader.push(frame)), ...reader.end()];
}

/** What the client gets of them: as a stream, and as the whole answer that the same stream stands for. */
export function writtenFor(
  { client, request }: Asked,
  parts: readonly StreamPart[],
): { text: string; whole: JsonObject | null } {
  const writer = answerFrames(client, { ...request, includeUsage: true }, answer);
  const { assemble, encode, split } = conversationCodec(client).stream;
  const frames = parts.flatMap((part) => writer.push(part));
  const text = encode(frames);
  const whole = assemble(frames);
  const streamed = assemble(split(Buffer.from(text)).frames);
  assert.equal(JSON.stringify(whole), JSON.stringify(streamed), 'a stream and a whole answer say the same');
  return { text, whole };
}
