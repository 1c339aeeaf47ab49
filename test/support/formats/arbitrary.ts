import type { JsonObject } from '../../../src/codecs/json/values.ts';
import {
  type Conversation,
  type EncryptedReasoning,
  emptyConversation,
  type FilePart,
  type ImagePart,
  type Message,
  type Part,
  type ReasoningPart,
  type Source,
  type TextPart,
  type Tool,
  type ToolCallPart,
  type ToolResultPart,
} from '../../../src/codecs/model/conversation.ts';
import type { EndReason, StreamPart } from '../../../src/codecs/model/stream-part.ts';
import type { Usage, WireFormat } from '../../../src/codecs/wire-format.ts';
import { fc } from '../machine/properties.ts';

/**
 * Conversations and answers by chance, in the neutral model, as rich as it is. Every format says less: its tests
 * map what comes from here to what it can say (`map`, `filter`), or hold the laws that hold for all of it.
 */

/** Any JSON object without `__proto__`, which survives no assignment. */
export const jsonObject: fc.Arbitrary<JsonObject> = fc
  .dictionary(
    fc.string({ unit: fc.constantFrom('a', 'b', '_', 'ü', '"'), minLength: 1, maxLength: 5 }),
    fc.jsonValue({ maxDepth: 2 }),
    { maxKeys: 3 },
  )
  // What JSON cannot keep apart (-0 and 0) is made one.
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });
const wholeDigits = fc.oneof(
  fc.constant('0'),
  fc.tuple(fc.constantFrom(...'123456789'), digits(0, 24)).map(([first, rest]) => first + rest),
);

/** A JSON number as a text, among them those that JavaScript writes with other characters. */
export const numberText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom('1234567890123456789', '1e400', '1.0', '-0', '0.1234567890123456789', '1E5', '7', '0.5'),
  fc
    .tuple(
      fc.constantFrom('', '-'),
      wholeDigits,
      fc.oneof(
        fc.constant(''),
        digits(1, 24).map((all) => `.${all}`),
      ),
      fc.oneof(
        fc.constant(''),
        fc.tuple(fc.constantFrom('e', 'E', 'e+', 'E-'), digits(1, 3)).map((all) => all.join('')),
      ),
    )
    .map((all) => all.join('')),
);

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 });
const text = words.map((value) => `a${value}z`);
const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '_', '-'), minLength: 1, maxLength: 9 });
const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 6 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 2 });
const cache = fc.option(fc.constantFrom({ ttl: null }, { ttl: 300 }, { ttl: 3_600 }), {
  nil: undefined,
  freq: 1,
});

/** The same value with ordinary prototypes, which deep comparisons look at. */
const plain = <T>(value: T): T => structuredClone(value);

/** Leaves members out that are undefined: absent and undefined differ in the model. */
function defined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

const source: fc.Arbitrary<Source> = fc.oneof(
  fc.record({
    kind: fc.constant('data' as const),
    mediaType: fc.constantFrom('image/png', 'image/jpeg'),
    base64,
  }),
  fc.record({ kind: fc.constant('url' as const), url: fc.webUrl() }),
);
const textPart: fc.Arbitrary<TextPart> = fc
  .record({ type: fc.constant('text' as const), text, cache })
  .map((part) => defined<TextPart>(part));
const imagePart: fc.Arbitrary<ImagePart> = fc
  .record({
    type: fc.constant('image' as const),
    source,
    detail: fc.constantFrom(undefined, 'low', 'high', 'auto'),
    cache,
  })
  .map((part) => defined<ImagePart>(part));
const filePart: fc.Arbitrary<FilePart> = fc
  .record({
    type: fc.constant('file' as const),
    source: fc.oneof(
      fc.record({
        kind: fc.constant('data' as const),
        mediaType: fc.constant('application/pdf'),
        base64,
      }),
      fc.record({ kind: fc.constant('url' as const), url: fc.webUrl() }),
      fc.record({ kind: fc.constant('text' as const), text }),
    ),
    name: fc.option(name, { nil: undefined }),
    citations: fc.constantFrom(undefined, true),
    cache,
  })
  .map((part) => defined<FilePart>(part));
const audioPart = fc.record({
  type: fc.constant('audio' as const),
  format: fc.constantFrom('wav', 'mp3'),
  base64,
});

function encrypted(format: WireFormat): fc.Arbitrary<EncryptedReasoning> {
  const kinds: EncryptedReasoning['kind'][] =
    format === 'anthropic-messages' ? ['signature', 'redacted'] : ['encrypted'];
  return fc
    .record({
      format: fc.constant(format),
      kind: fc.constantFrom(...kinds),
      value: base64,
      id: format === 'openai-responses' ? fc.option(name, { nil: undefined }) : fc.constant(undefined),
    })
    .map((reasoning) => defined<EncryptedReasoning>(reasoning));
}

function reasoningPart(format: WireFormat): fc.Arbitrary<ReasoningPart> {
  return fc.record({
    type: fc.constant('reasoning' as const),
    text: fc.oneof(text, fc.constant('')),
    summary: fc.boolean(),
    encrypted: maybe(encrypted(format)),
  });
}

interface Called {
  name: string;
  kind: 'function' | 'custom';
  namespace: string | undefined;
  input: JsonObject;
  free: string;
  result: ToolResultPart['parts'];
  isError: boolean;
  callCache: TextPart['cache'];
  resultCache: TextPart['cache'];
}

const called: fc.Arbitrary<Called> = fc.record({
  name,
  kind: fc.constantFrom('function' as const, 'function' as const, 'custom' as const),
  namespace: fc.option(name, { nil: undefined, freq: 1 }),
  input: jsonObject,
  free: text,
  result: fc.array(fc.oneof(textPart, imagePart, filePart), { maxLength: 2 }),
  isError: fc.boolean(),
  callCache: cache,
  resultCache: cache,
});

function callPart(one: Called, id: string): ToolCallPart {
  const { callCache, free, input, kind, name: tool, namespace } = one;
  return defined<ToolCallPart>({
    type: 'tool-call',
    id,
    name: tool,
    input: kind === 'custom' ? free : JSON.stringify(input),
    kind,
    namespace,
    cache: callCache,
  });
}

function resultPart({ isError, kind, result, resultCache }: Called, callId: string): ToolResultPart {
  return defined<ToolResultPart>({
    type: 'tool-result',
    callId,
    parts: result,
    isError,
    kind,
    cache: resultCache,
  });
}

interface Round {
  asked: Part[];
  later: TextPart[];
  thought: ReasoningPart[];
  said: Part[];
  calls: Called[];
}

/** One turn of the user and the answer to it; the calls in it are answered at the start of the next turn. */
function round(format: WireFormat): fc.Arbitrary<Round> {
  return fc.record({
    asked: fc.array(fc.oneof(textPart, textPart, imagePart, filePart, audioPart), {
      minLength: 1,
      maxLength: 3,
    }),
    later: fc.oneof(fc.constant<TextPart[]>([]), fc.array(textPart, { maxLength: 2 })),
    thought: fc.array(reasoningPart(format), { maxLength: 1 }),
    said: fc.array(fc.oneof(textPart, fc.record({ type: fc.constant('refusal' as const), text })), {
      maxLength: 2,
    }),
    calls: fc.array(called, { maxLength: 2 }),
  });
}

function messagesOf(rounds: readonly Round[]): Message[] {
  const messages: Message[] = [];
  let results: Part[] = [];
  for (const [index, { asked, calls, later, said, thought }] of rounds.entries()) {
    messages.push({ role: 'user', parts: [...results, ...asked] });
    if (later.length > 0) messages.push({ role: 'system', parts: later });
    const ids = calls.map((_, call) => `call_${index}_${call}`);
    const answer = [...thought, ...said, ...calls.map((call, at) => callPart(call, ids[at] ?? ''))];
    messages.push({
      role: 'assistant',
      parts: answer.length > 0 ? answer : [{ type: 'text', text: 'Well.' }],
    });
    results = calls.map((call, at) => resultPart(call, ids[at] ?? ''));
  }
  if (results.length > 0) messages.push({ role: 'user', parts: results });
  return messages;
}

const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc
    .record({
      kind: fc.constant('function' as const),
      name,
      description: maybe(text),
      schema: maybe(jsonObject.map((properties) => ({ type: 'object', properties }))),
      strict: maybe(fc.boolean()),
      namespace: fc.option(name, { nil: undefined, freq: 1 }),
      cache,
    })
    .map((value) => defined<Extract<Tool, { kind: 'function' }>>(value)),
  fc
    .record({
      kind: fc.constant('custom' as const),
      name,
      description: maybe(text),
      grammar: maybe(fc.record({ syntax: fc.constantFrom('lark', 'regex'), definition: text })),
      namespace: fc.option(name, { nil: undefined, freq: 1 }),
    })
    .map((value) => defined<Extract<Tool, { kind: 'custom' }>>(value)),
);

const sampling = fc.record({
  maxOutputTokens: maybe(fc.integer({ min: 16, max: 99_999 })),
  temperature: maybe(fc.constantFrom(0, 0.5, 1, 2)),
  topP: maybe(fc.constantFrom(0.1, 1)),
  topK: maybe(fc.integer({ min: 1, max: 99 })),
  stop: fc.array(text, { maxLength: 2 }),
  seed: maybe(fc.nat()),
  frequencyPenalty: maybe(fc.constantFrom(-1, 0, 1)),
  presencePenalty: maybe(fc.constantFrom(-1, 0, 1)),
  candidates: maybe(fc.constantFrom(1, 2)),
  logprobs: maybe(fc.constantFrom(0, 3)),
  verbosity: maybe(fc.constantFrom('low', 'high')),
});

const options = fc.record({
  parallelToolCalls: maybe(fc.boolean()),
  reasoning: maybe(
    fc.record({
      mode: fc.constantFrom('off' as const, 'on' as const, 'adaptive' as const),
      effort: maybe(fc.constantFrom('minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
      budgetTokens: maybe(fc.integer({ min: 1_024, max: 40_000 })),
      display: maybe(fc.constantFrom('auto', 'concise', 'detailed', 'omitted', 'summarized')),
    }),
  ),
  output: fc.oneof(
    fc.constant({ kind: 'text' as const }),
    fc.constant({ kind: 'json' as const }),
    fc.record({
      kind: fc.constant('schema' as const),
      name: maybe(name),
      description: maybe(text),
      schema: jsonObject.map((properties) => ({ type: 'object', properties })),
      strict: maybe(fc.boolean()),
    }),
  ),
  userId: maybe(text),
  cacheKey: maybe(name),
  serviceTier: maybe(fc.constantFrom('auto', 'default', 'flex')),
  metadata: maybe(fc.dictionary(name, text, { maxKeys: 2 })),
  store: maybe(fc.boolean()),
  stream: fc.boolean(),
  includeUsage: fc.boolean(),
});

/** A choice that the tools allow; null where there are none. */
function choiceAmong(tools: readonly Tool[]): fc.Arbitrary<Conversation['toolChoice']> {
  const names = tools.flatMap((one) => ('name' in one ? [one.name] : []));
  if (names.length === 0) return fc.constant(null);
  return maybe(
    fc.oneof(
      fc.record({ kind: fc.constantFrom('auto' as const, 'none' as const, 'required' as const) }),
      fc.record({ kind: fc.constant('tool' as const), name: fc.constantFrom(...names) }),
      fc.record({
        kind: fc.constant('allowed' as const),
        names: fc.subarray(names, { minLength: 1 }),
        required: fc.boolean(),
      }),
    ),
  );
}

/**
 * A conversation whose encrypted reasoning is of `format`. Roles alternate but for system messages after a user's turn, every
 * call has one result at the start of the next turn, and tools have different names.
 */
export function conversations(format: WireFormat): fc.Arbitrary<Conversation> {
  return fc
    .record({
      system: fc.array(textPart, { maxLength: 2 }),
      rounds: fc.array(round(format), { minLength: 1, maxLength: 3 }),
      tools: fc.uniqueArray(tool, {
        maxLength: 3,
        selector: (one) => ('name' in one ? one.name : one.kind),
      }),
      sampling,
      options,
    })
    .chain(({ rounds, system, tools, sampling: sampled, options: opted }) =>
      choiceAmong(tools).map((toolChoice) =>
        plain({
          ...emptyConversation('a-model'),
          ...sampled,
          ...opted,
          system,
          messages: messagesOf(rounds),
          tools,
          toolChoice,
        }),
      ),
    );
}

interface Block {
  kind: 'text' | 'refusal' | 'reasoning' | 'tool-call';
  deltas: string[];
  encrypted: EncryptedReasoning | null;
  summary: boolean;
  name: string;
  input: JsonObject;
}

function block(format: WireFormat): fc.Arbitrary<Block> {
  return fc.record({
    kind: fc.constantFrom('text' as const, 'refusal' as const, 'reasoning' as const, 'tool-call' as const),
    deltas: fc.array(text, { minLength: 1, maxLength: 3 }),
    encrypted: maybe(encrypted(format)),
    summary: fc.boolean(),
    name,
    input: jsonObject,
  });
}

function blockParts(
  { deltas, input, kind, name: tool, encrypted, summary }: Block,
  index: number,
): StreamPart[] {
  const at = { block: index };
  if (kind === 'tool-call') {
    const json = JSON.stringify(input);
    const half = Math.floor(json.length / 2);
    return [
      { type: 'tool-call-start', ...at, id: `call_${index}`, name: tool, kind: 'function' },
      { type: 'tool-call-delta', ...at, text: json.slice(0, half) },
      { type: 'tool-call-delta', ...at, text: json.slice(half) },
      { type: 'tool-call-end', ...at, complete: true },
    ];
  }
  const grown = deltas.map((delta): StreamPart => ({ type: `${kind}-delta`, ...at, text: delta }));
  if (kind === 'reasoning')
    return [
      { type: 'reasoning-start', ...at, summary },
      ...grown,
      { type: 'reasoning-end', ...at, encrypted },
    ];
  return [{ type: `${kind}-start`, ...at }, ...grown, { type: `${kind}-end`, ...at }];
}

const counter = fc.integer({ min: 0, max: 9_999 });
/** Disjoint buckets that every format can report: tokens of text, and one lifetime of the cache. */
export const usage: fc.Arbitrary<Usage> = fc.record({
  input: counter.map((count) => count + 1),
  cacheRead: counter,
  cacheWrite5m: counter,
  cacheWrite1h: fc.constant(0),
  output: counter,
  reasoning: counter,
  audioInput: fc.constant(0),
  audioOutput: fc.constant(0),
  imageInput: fc.constant(0),
  imageOutput: fc.constant(0),
  webSearches: fc.constant(0),
  images: fc.constant(0),
  audioSeconds: fc.constant(0),
  characters: fc.constant(0),
  searchUnits: fc.constant(0),
});

/** Takes parts of several blocks as `picks` says, and keeps the order of each and the order of their starts. */
function interleaved(blocks: StreamPart[][], picks: readonly number[]): StreamPart[] {
  const queues = blocks.map((parts) => [...parts]);
  const result: StreamPart[] = [];
  let started = 0;
  for (let turn = 0; queues.some((queue) => queue.length > 0); turn += 1) {
    // The next block may start; of the started ones any may go on.
    const open = queues.slice(0, started + 1).filter((queue) => queue.length > 0);
    const queue = open[(picks[turn % Math.max(1, picks.length)] ?? 0) % open.length];
    const next = queue?.shift();
    if (next === undefined) continue;
    if (queue === queues[started]) started += 1;
    result.push(next);
  }
  return result;
}

export interface AnswerOptions {
  /** Whether blocks may be open at the same time. */
  interleave?: boolean;
}

/** A whole answer as parts, balanced and in order, whose end fits its blocks. Encrypted reasoning is of `format`. */
export function answers(
  format: WireFormat,
  { interleave = false }: AnswerOptions = {},
): fc.Arbitrary<StreamPart[]> {
  return fc
    .record({
      blocks: fc.array(block(format), { maxLength: 4 }),
      picks: interleave ? fc.array(fc.nat(3), { minLength: 1, maxLength: 12 }) : fc.constant([0]),
      reason: fc.constantFrom<EndReason>('stop', 'length', 'policy'),
      usage,
    })
    .map(({ blocks, picks, reason, usage: counted }) => {
      const called = blocks.some(({ kind }) => kind === 'tool-call');
      return plain<StreamPart[]>([
        { type: 'message-start', id: 'upstream_1', model: 'upstream-model', usage: null },
        ...interleaved(blocks.map(blockParts), picks),
        {
          type: 'message-end',
          reason: reason === 'stop' && called ? 'tool-calls' : reason,
          rawFinishReason: null,
          stopSequence: null,
          usage: counted,
        },
      ]);
    });
}

/** The parts without the words that the upstream's format has for their end: a writer has its own format's. */
export function withoutRawReasons(parts: readonly StreamPart[]): StreamPart[] {
  return parts.map((part) => (part.type === 'message-end' ? { ...part, rawFinishReason: null } : part));
}

/** The same answer block by block, with the deltas of each joined: what is left when only the order of pieces differs. */
export function settled(parts: readonly StreamPart[]): StreamPart[] {
  const order = (part: StreamPart) => {
    if ('block' in part) return part.block;
    return part.type === 'message-start' ? -1 : Number.MAX_SAFE_INTEGER;
  };
  const result: StreamPart[] = [];
  for (const part of [...parts].sort((a, b) => order(a) - order(b))) {
    const last = result.at(-1);
    if ('text' in part && last?.type === part.type && 'text' in last && last.block === part.block)
      result[result.length - 1] = { ...last, text: last.text + part.text };
    else result.push(part);
  }
  return result;
}
