import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { splitFrames } from '../../../lib/streams/sse.ts';
import { embedEncryptedReasoning } from '../../encrypted-reasoning/embed.ts';
import { type JsonObject, listOf, objectOf } from '../../json/values.ts';
import type { EncryptedReasoning } from '../../model/conversation.ts';
import type { EndReason, StreamPart } from '../../model/stream-part.ts';
import { encodeFrames } from '../../stream/frames.ts';
import { noUsage, type Usage } from '../../wire-format.ts';
import { gemini } from '../codec.ts';
import { assemble, encodeFramesOf } from './assemble.ts';
import { reader } from './reader.ts';
import { writer } from './writer.ts';

const { stream } = gemini;
assert.ok(stream !== null);

const data = (value: unknown) => ({ event: '', data: JSON.stringify(value) });
const read = (...chunks: unknown[]) => {
  const source = reader();
  return [...chunks.flatMap((chunk) => source.push(data(chunk))), ...source.end()];
};
const chunk = (parts: unknown[], more: JsonObject = {}, root: JsonObject = {}) => ({
  candidates: [{ content: { parts, role: 'model' }, index: 0, ...more }],
  modelVersion: 'gemini-3',
  responseId: 'r1',
  ...root,
});
const stop = { finishReason: 'STOP' };
const called = (functionCall: JsonObject, more: JsonObject = {}) => ({ functionCall, ...more });
const fixture = (name: string) =>
  splitFrames(readFileSync(new URL(`../fixtures/${name}`, import.meta.url))).frames;

/** The parts without the start of the message, in short. */
const brief = (parts: readonly StreamPart[]) =>
  parts.flatMap((part) => {
    if (part.type === 'message-start') return [];
    if ('text' in part) return [`${part.type} ${part.block} ${part.text}`];
    if (part.type === 'tool-call-start') return [`${part.type} ${part.block} ${part.name} ${part.id}`];
    if (part.type === 'tool-call-end') return [`${part.type} ${part.block} ${part.complete}`];
    if (part.type === 'reasoning-end') return [`${part.type} ${part.block} ${part.encrypted?.value ?? '-'}`];
    if (part.type === 'message-end') return [`${part.type} ${part.reason}`];
    if (part.type === 'error') return [`${part.type} ${part.error.status} ${part.error.message}`];
    if (part.type === 'native') return [`${part.type} ${part.block} ${part.name}`];
    return [`${part.type} ${part.block}`];
  });
const endOf = (parts: readonly StreamPart[]) => {
  const end = parts.at(-1);
  return end?.type === 'message-end' ? end.reason : end?.type;
};

const context = { id: 'req_1', model: 'asked', startedAt: 0, includeUsage: true, request: {} };
const showing = { generationConfig: { thinkingConfig: { includeThoughts: true } } };
const text = (block: number, ...texts: string[]): StreamPart[] => [
  { type: 'text-start', block },
  ...texts.map((one): StreamPart => ({ type: 'text-delta', block, text: one })),
  { type: 'text-end', block },
];
const thought = (block: number, words: string, encrypted: EncryptedReasoning | null = null): StreamPart[] => [
  { type: 'reasoning-start', block, summary: true },
  ...(words === '' ? [] : [{ type: 'reasoning-delta' as const, block, text: words }]),
  { type: 'reasoning-end', block, encrypted },
];
const call = (block: number, input: string, complete = true): StreamPart[] => [
  { type: 'tool-call-start', block, id: `id${block}`, name: 'read', kind: 'function' },
  { type: 'tool-call-delta', block, text: input },
  { type: 'tool-call-end', block, complete },
];
const end = (reason: EndReason, usage: Usage | null = null): StreamPart => ({
  type: 'message-end',
  reason,
  rawFinishReason: null,
  stopSequence: null,
  usage,
});
const write = (parts: readonly StreamPart[], request: JsonObject = showing) => {
  const target = writer({ ...context, request });
  const { frames } = splitFrames(Buffer.from(encodeFrames(parts.flatMap((part) => target.push(part)))));
  return frames.map((frame) => objectOf(JSON.parse(frame.data)));
};
const candidateOf = (body: JsonObject | undefined) => objectOf(listOf(body?.['candidates'])[0]);
const partsOf = (chunks: readonly JsonObject[]) =>
  chunks.flatMap((one) => listOf(objectOf(candidateOf(one)['content'])['parts']));
const signed: EncryptedReasoning = { format: 'gemini', kind: 'signature', value: 'c2ln' };

describe('an answer of Google', () => {
  it('may have several parts in one chunk', () => {
    const parts = [
      { text: 'Hm', thought: true },
      { text: 'Yes.' },
      called({ id: 'x', name: 'read', args: { a: 1 } }, { thoughtSignature: 'c2ln' }),
      called({ name: 'list', args: {} }),
    ];
    assert.deepEqual(brief(read(chunk(parts, stop))), [
      'reasoning-start 0',
      'reasoning-delta 0 Hm',
      'reasoning-end 0 -',
      'text-start 1',
      'text-delta 1 Yes.',
      'text-end 1',
      'reasoning-start 2',
      'reasoning-end 2 c2ln',
      'tool-call-start 3 read x',
      'tool-call-delta 3 {"a":1}',
      'tool-call-end 3 true',
      'tool-call-start 4 list call_list_0_r1',
      'tool-call-delta 4 {}',
      'tool-call-end 4 true',
      'message-end tool-calls',
    ]);
  });

  it('has the signature of a call on the thoughts before it', () => {
    const signedCall = called({ id: 'x', name: 'read' }, { thoughtSignature: 'c2ln' });
    assert.deepEqual(brief(read(chunk([{ text: 'Hm', thought: true }]), chunk([signedCall], stop))), [
      'reasoning-start 0',
      'reasoning-delta 0 Hm',
      'reasoning-end 0 c2ln',
      'tool-call-start 1 read x',
      'tool-call-end 1 true',
      'message-end tool-calls',
    ]);
  });

  it('has the signature of a text before it, and that of an empty text in its place', () => {
    const onText = read(chunk([{ text: 'Yes', thoughtSignature: 'c2ln' }]), chunk([{ text: '.' }], stop));
    assert.deepEqual(brief(onText), [
      'reasoning-start 0',
      'reasoning-end 0 c2ln',
      'text-start 1',
      'text-delta 1 Yes',
      'text-delta 1 .',
      'text-end 1',
      'message-end stop',
    ]);
    const empty = read(chunk([{ text: 'Yes' }]), chunk([{ text: '', thoughtSignature: 'c2ln' }], stop));
    assert.deepEqual(brief(empty), [
      'text-start 0',
      'text-delta 0 Yes',
      'text-end 0',
      'reasoning-start 1',
      'reasoning-end 1 c2ln',
      'message-end stop',
    ]);
    const bare = read(
      chunk([{ thoughtSignature: 'YQ==' }, { thoughtSignature: 'Yg==' }, { text: 'x' }], stop),
    );
    assert.deepEqual(brief(bare).slice(0, 5), [
      'reasoning-start 0',
      'reasoning-end 0 YQ==',
      'reasoning-start 1',
      'reasoning-end 1 Yg==',
      'text-start 2',
    ]);
  });

  it('has the encrypted reasoning of another format that was embedded in a signature', () => {
    const encrypted: EncryptedReasoning = { format: 'anthropic-messages', kind: 'signature', value: 'sig' };
    const thoughtSignature = Buffer.from(embedEncryptedReasoning(encrypted)).toString('base64');
    const parts = read(chunk([{ text: 'x', thoughtSignature }], stop));
    assert.deepEqual(
      parts.find(({ type }) => type === 'reasoning-end'),
      { type: 'reasoning-end', block: 0, encrypted },
    );
  });

  it('has ids for calls without one, made of tool, number and response, and always the same', () => {
    const ids = () =>
      read(...fixture('tools.sse').map((frame) => JSON.parse(frame.data))).flatMap((part) =>
        part.type === 'tool-call-start' ? [part.id] : [],
      );
    assert.deepEqual(ids(), [
      'call_read_file_0_tY4maOv3B5-tools',
      'call_list_0_tY4maOv3B5-tools',
      'call-own-3',
    ]);
    assert.deepEqual(ids(), ids());
  });

  it('may have arguments in pieces', () => {
    const piece = (jsonPath: string, value: JsonObject, more = true) =>
      chunk([called({ partialArgs: [{ jsonPath, ...value }], ...(more ? { willContinue: true } : {}) })]);
    const parts = read(
      chunk([called({ name: 'put', id: 'x', willContinue: true }, { thoughtSignature: 'c2ln' })]),
      piece('$.to.path', { stringValue: 'src/', willContinue: true }),
      piece('$.to.path', { stringValue: 'a.ts' }),
      piece("$['a key'][0].n", { numberValue: 1.5 }),
      piece('$["a key"][1]', { boolValue: false }),
      piece('$.none', { nullValue: 'NULL_VALUE' }),
      chunk([called({})]),
      chunk([called({ name: 'list', partialArgs: [{ jsonPath: '$.all', boolValue: true }] })]),
      chunk([{ text: '' }], stop),
    );
    assert.deepEqual(brief(parts), [
      'reasoning-start 0',
      'reasoning-end 0 c2ln',
      'tool-call-start 1 put x',
      'tool-call-delta 1 {"to":{"path":"src/a.ts"},"a key":[{"n":1.5},false],"none":null}',
      'tool-call-end 1 true',
      'tool-call-start 2 list call_list_0_r1',
      'tool-call-delta 2 {"all":true}',
      'tool-call-end 2 true',
      'message-end tool-calls',
    ]);
  });

  it('has a complete call after its pieces are assembled', () => {
    const chunks = [
      chunk([called({ name: 'put', willContinue: true }, { thoughtSignature: 'c2ln' })]),
      chunk([called({ partialArgs: [{ jsonPath: '$.a', stringValue: 'x' }], willContinue: true })]),
      chunk([called({ partialArgs: [{ jsonPath: '$.a', stringValue: 'y' }] })]),
      chunk([{ text: 'Done' }], stop),
    ];
    assert.deepEqual(partsOf([assemble(chunks.map(data)) ?? {}]), [
      { functionCall: { name: 'put', args: { a: 'xy' } }, thoughtSignature: 'c2ln' },
      { text: 'Done' },
    ]);
    assert.equal(
      assemble([...chunks.slice(0, 2), chunk([], { finishReason: 'MAX_TOKENS' })].map(data)),
      null,
    );
  });

  it('fails if pieces of arguments have an invalid place', () => {
    for (const jsonPath of [
      '',
      '$',
      'a',
      '$..a',
      '$.a[7]',
      '$[0]',
      '$.__proto__.x',
      `$${'.a'.repeat(65)}`,
      '$.a[',
      7,
    ]) {
      const pieces = [{ jsonPath, stringValue: 'x' }];
      const parts = read(chunk([called({ name: 'put', partialArgs: pieces })], stop));
      assert.match(
        String(brief(parts).at(-1)),
        /^error 502 The upstream sent arguments at a place/,
        String(jsonPath),
      );
    }
    assert.equal(({} as JsonObject)['x'], undefined);
  });

  it('has an incomplete call if it was cut off inside one', () => {
    const begun = chunk([
      called({ name: 'put', willContinue: true, partialArgs: [{ jsonPath: '$.a', stringValue: 'x' }] }),
    ]);
    assert.deepEqual(brief(read(begun, chunk([], { finishReason: 'MAX_TOKENS' }))).slice(1), [
      'tool-call-delta 0 {"a":"x"}',
      'tool-call-end 0 false',
      'message-end length',
    ]);
  });

  it('fails at a call that has no name or is nested too deep, and gives no part of it', () => {
    const nameless = read(chunk([called({ args: { a: 1 } })], stop));
    assert.deepEqual(brief(nameless), ['error 502 The upstream called a tool without naming it']);
    const source = reader();
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const frame = JSON.stringify(chunk([called({ name: 'read', args: {} }), { text: 'more' }])).replace(
      '{}',
      deep,
    );
    const parts = source.push({ event: '', data: frame });
    assert.match(String(brief(parts).at(-1)), /^error 502 .*too deeply/);
    assert.ok(!parts.some(({ type }) => type === 'tool-call-end'));
    assert.deepEqual(source.end(), []);
  });

  const reasons: [string, EndReason][] = [
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'policy'],
    ['RECITATION', 'policy'],
    ['BLOCKLIST', 'policy'],
    ['PROHIBITED_CONTENT', 'policy'],
    ['SPII', 'policy'],
    ['IMAGE_SAFETY', 'policy'],
    ['OTHER', 'other'],
    ['LANGUAGE', 'other'],
    ['NO_IMAGE', 'other'],
    ['A_NEW_REASON', 'other'],
    ['constructor', 'other'],
  ];
  for (const [finishReason, reason] of reasons) {
    it(`with the finish reason ${finishReason} has the end reason ${reason}`, () => {
      assert.equal(endOf(read(chunk([{ text: 'x' }], { finishReason }))), reason);
    });
  }

  it('has the end reason tool-calls if it has calls, although it says STOP', () => {
    assert.equal(endOf(read(chunk([called({ name: 'read' })]), chunk([], stop))), 'tool-calls');
  });

  it('has the reason for its end as a refusal, also if the prompt was blocked', () => {
    const ended = read(chunk([{ text: 'x' }], { finishReason: 'SAFETY', finishMessage: 'Unsafe.' }));
    assert.deepEqual(brief(ended).slice(-4), [
      'refusal-start 1',
      'refusal-delta 1 Unsafe.',
      'refusal-end 1',
      'message-end policy',
    ]);
    const blocked = (feedback: JsonObject) => brief(read({ promptFeedback: feedback, responseId: 'r' }));
    assert.deepEqual(blocked({ blockReason: 'OTHER', blockReasonMessage: 'No.' }).slice(1), [
      'refusal-delta 0 No.',
      'refusal-end 0',
      'message-end policy',
    ]);
    assert.deepEqual(brief(read(...fixture('blocked.sse').map((frame) => JSON.parse(frame.data)))), [
      'refusal-start 0',
      'refusal-delta 0 The prompt was blocked: PROHIBITED_CONTENT',
      'refusal-end 0',
      'message-end policy',
    ]);
    assert.match(String(blocked({ safetyRatings: [] })), /^error 502/);
  });

  for (const finishReason of ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'TOO_MANY_TOOL_CALLS'])
    it(`fails with ${finishReason}`, () => {
      const parts = read(chunk([], { finishReason, finishMessage: 'Malformed function call: read(' }));
      assert.deepEqual(brief(parts), [
        `error 502 The upstream rejected its model's answer (${finishReason}): Malformed function call: read(`,
      ]);
    });

  it('continues after a chunk that says STOP, as older models do in every chunk', () => {
    const parts = read(chunk([{ text: 'a' }], stop), chunk([{ text: 'b' }], stop));
    assert.deepEqual(brief(parts), [
      'text-start 0',
      'text-delta 0 a',
      'text-delta 0 b',
      'text-end 0',
      'message-end stop',
    ]);
  });

  it('is the first of its candidates', () => {
    const two = {
      candidates: [
        { index: 1, content: { parts: [{ text: 'second' }] }, finishReason: 'SAFETY' },
        { index: 0, content: { parts: [{ text: 'first' }] }, finishReason: 'STOP' },
      ],
    };
    assert.deepEqual(brief(read(two)).slice(1), ['text-delta 0 first', 'text-end 0', 'message-end stop']);
  });

  it('is read from Cloud Code’s wrapper and from an array', () => {
    const wrapped = {
      response: chunk([{ text: 'x' }], stop, { usageMetadata: { promptTokenCount: 3 } }),
      traceId: 't',
    };
    const plain = read(chunk([{ text: 'x' }], stop, { usageMetadata: { promptTokenCount: 3 } }));
    assert.deepEqual(read(wrapped), plain);
    assert.deepEqual(read([wrapped]), plain);
    assert.deepEqual(brief(read([chunk([{ text: 'x' }]), { error: { code: 503, message: 'busy' } }])), [
      'error 503 busy',
    ]);
    const bytes = Buffer.from(JSON.stringify([wrapped]));
    assert.deepEqual(gemini.readUsage(bytes), { ...noUsage, input: 3 });
    assert.equal(gemini.responseTextBytes(bytes), 1);
    assert.equal(stream.classify(data(wrapped)), 'end');
  });

  it('has images, code and its results as separate parts', () => {
    const parts = [
      { inlineData: { mimeType: 'image/png', data: 'AA==' }, thoughtSignature: 'c2ln' },
      { executableCode: { language: 'PYTHON', code: '1+1' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } },
      { text: 'Two.' },
    ];
    const answerParts = read(chunk(parts, stop));
    assert.deepEqual(brief(answerParts).slice(0, 6), [
      'reasoning-start 0',
      'reasoning-end 0 c2ln',
      'image 1',
      'native 2 executableCode',
      'native 3 codeExecutionResult',
      'text-start 4',
    ]);
    assert.deepEqual(partsOf(write(answerParts)), [...parts, { text: '' }]);
  });

  it('has citations by UTF-8 bytes, which become UTF-16 positions', () => {
    const cites = read(...fixture('grounding.sse').map((frame) => JSON.parse(frame.data))).flatMap((part) =>
      part.type === 'citation' ? [part] : [],
    );
    const answerText = 'Zürich liegt am See. 東京 is larger.';
    assert.deepEqual(
      cites.map(({ citation: { end: to, start: from, title } }) => [
        answerText.slice(from ?? 0, to ?? 0),
        title,
      ]),
      [
        ['Zürich liegt am See.', 'stadt-zuerich.ch'],
        ['東京 is larger.', 'stadt-zuerich.ch'],
        ['東京 is larger.', 'metro.tokyo.lg.jp'],
      ],
    );
  });

  it('has citations in an open block, found by their text if the bytes are wrong, else for the whole block', () => {
    const groundingMetadata = {
      groundingChunks: [{ web: { uri: 'https://a.test', title: 'A' } }],
      groundingSupports: [
        { segment: { startIndex: 90, endIndex: 99, text: '👋 b' }, groundingChunkIndices: [0, 5, 'x'] },
        { segment: { startIndex: 1, endIndex: 2, text: 'nowhere' }, groundingChunkIndices: [0] },
        { segment: null, groundingChunkIndices: [0] },
        null,
      ],
    };
    const parts = read(
      chunk([{ text: 'a 👋 b' }]),
      chunk([{ text: '', thoughtSignature: 'c2ln' }], { ...stop, groundingMetadata }),
    );
    assert.deepEqual(brief(parts), [
      'text-start 0',
      'text-delta 0 a 👋 b',
      'citation 0',
      'citation 0',
      'citation 0',
      'text-end 0',
      'reasoning-start 1',
      'reasoning-end 1 c2ln',
      'message-end stop',
    ]);
    const places = parts.flatMap((part) =>
      part.type === 'citation' ? [[part.citation.start, part.citation.end]] : [],
    );
    assert.deepEqual(places, [
      [2, 6],
      [null, null],
      [null, null],
    ]);
  });

  it('has sources without a passage, documents, and recitations', () => {
    const sources = (metadata: JsonObject) =>
      read(chunk([{ text: 'abc' }], { ...stop, ...metadata })).flatMap((part) =>
        part.type === 'citation'
          ? [[part.citation.url, part.citation.title, part.citation.text, part.citation.end]]
          : [],
      );
    assert.deepEqual(
      sources({
        groundingMetadata: { groundingChunks: [{ retrievedContext: { title: 'D', text: 'passage' } }] },
      }),
      [[null, 'D', 'passage', null]],
    );
    assert.deepEqual(
      sources({ citationMetadata: { citations: [{ startIndex: 1, endIndex: 3, uri: 'https://r.test' }] } }),
      [['https://r.test', null, null, 3]],
    );
  });

  const counts = {
    promptTokenCount: 1_000,
    cachedContentTokenCount: 600,
    candidatesTokenCount: 50,
    thoughtsTokenCount: 70,
    toolUsePromptTokenCount: 30,
    totalTokenCount: 1_150,
  };
  const usages: [string, JsonObject, Partial<Usage>][] = [
    ['buckets are disjoint', counts, { input: 430, cacheRead: 600, output: 50, reasoning: 70 }],
    [
      'audio and pictures are told apart',
      {
        ...counts,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 890 },
          { modality: 'AUDIO', tokenCount: 100 },
          { modality: 'IMAGE', tokenCount: 10 },
        ],
        cacheTokensDetails: [
          { modality: 'AUDIO', tokenCount: 40 },
          { modality: 'IMAGE', tokenCount: 3 },
        ],
        candidatesTokensDetails: [
          { modality: 'IMAGE', tokenCount: 20 },
          { modality: 'AUDIO', tokenCount: 5 },
        ],
      },
      {
        input: 363,
        cacheRead: 600,
        audioInput: 60,
        imageInput: 7,
        output: 25,
        audioOutput: 5,
        imageOutput: 20,
        reasoning: 70,
      },
    ],
    [
      'a total says what nothing else does',
      { promptTokenCount: 5, totalTokenCount: 9 },
      { input: 5, output: 4 },
    ],
    [
      'more cached than asked is not more than all',
      { promptTokenCount: 5, cachedContentTokenCount: 9, candidatesTokenCount: -1 },
      { cacheRead: 5 },
    ],
  ];
  for (const [name, usageMetadata, expected] of usages) {
    it(name, () => {
      const parts = read(chunk([{ text: 'x' }], stop, { usageMetadata }));
      const last = parts.at(-1);
      assert.deepEqual(last?.type === 'message-end' && last.usage, { ...noUsage, ...expected });
      const bytes = Buffer.from(JSON.stringify(chunk([], stop, { usageMetadata })));
      assert.deepEqual(gemini.readUsage(bytes), { ...noUsage, ...expected });
    });
  }

  it('includes its searches in the usage, but nothing of the arguments of a call', () => {
    const usageMetadata = { promptTokenCount: 1 };
    const args = { groundingMetadata: { webSearchQueries: ['a'] }, usageMetadata: { promptTokenCount: 9 } };
    const body = (more: JsonObject) =>
      Buffer.from(JSON.stringify({ usageMetadata, ...chunk([called({ name: 'f', args })], more) }));
    assert.deepEqual(gemini.readUsage(body(stop)), { ...noUsage, input: 1 });
    const searched = body({ ...stop, groundingMetadata: { webSearchQueries: ['a', 'b'] } });
    assert.deepEqual(gemini.readUsage(searched), { ...noUsage, input: 1, webSearches: 2 });
  });

  it('has the usage of its last report, and that of its first at the start', () => {
    const parts = read(
      chunk([{ text: 'x' }], {}, { usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 1 } }),
      chunk([], stop),
      { usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 9 } },
    );
    assert.deepEqual(parts[0], {
      type: 'message-start',
      id: 'r1',
      model: 'gemini-3',
      usage: { ...noUsage, input: 7, output: 1 },
    });
    const last = end('stop', { ...noUsage, input: 7, output: 9 });
    assert.deepEqual(parts.at(-1), { ...last, rawFinishReason: 'STOP' });
  });

  it('has a finish reason after it was complete without one', () => {
    const { frames } = splitFrames(
      Buffer.from(encodeFramesOf({ candidates: [{ content: { parts: [{ text: 'x' }] } }] })),
    );
    assert.equal(frames.map((frame) => stream.classify(frame)).join(), 'end');
    assert.deepEqual(candidateOf(assemble(frames) ?? {})['finishReason'], 'STOP');
    for (const odd of [{}, { candidates: [] }, { candidates: 7 }, { candidates: [null] }])
      assert.equal(assemble(splitFrames(Buffer.from(encodeFramesOf(odd))).frames), null);
  });

  it('fails with the status of its error, by number, by name or by neither', () => {
    const failed = (error: unknown) => brief(read(chunk([{ text: 'x' }]), { error })).at(-1);
    assert.equal(failed({ code: 429, message: 'slow', status: 'RESOURCE_EXHAUSTED' }), 'error 429 slow');
    assert.equal(failed({ code: 8, message: 'slow', status: 'RESOURCE_EXHAUSTED' }), 'error 429 slow');
    assert.equal(failed({ message: 'busy', status: 'UNAVAILABLE' }), 'error 503 busy');
    assert.equal(failed({ message: 'odd', status: 'constructor' }), 'error 502 odd');
    assert.equal(failed('it broke'), 'error 502 it broke');
    const details = [{ '@type': 'x', reason: 'API_KEY_INVALID' }];
    assert.equal(failed({ code: 400, message: 'key', status: 'INVALID_ARGUMENT', details }), 'error 401 key');
    assert.equal(
      endOf(read(chunk([{ text: 'x' }], stop), { error: { code: 500, message: 'late' } })),
      'stop',
    );
  });
});

describe('a chunk of Google', () => {
  const cases: [ReturnType<typeof stream.classify>, unknown][] = [
    ['preamble', { usageMetadata: { promptTokenCount: 1 } }],
    ['preamble', { promptFeedback: { safetyRatings: [] } }],
    ['preamble', chunk([])],
    ['preamble', chunk([{ text: '' }])],
    ['preamble', { candidates: [] }],
    ['content', chunk([{ text: ' ' }])],
    ['content', chunk([{ text: 'x', thought: true }])],
    ['content', chunk([{ text: '', thoughtSignature: 'c2ln' }])],
    ['content', chunk([called({ name: 'f' })])],
    ['content', { object: 'something.new' }],
    ['content', 'text'],
    ['end', chunk([{ text: 'x' }], stop)],
    ['end', { promptFeedback: { blockReason: 'SAFETY' } }],
    ['error', { error: { code: 500, message: 'm' } }],
    ['error', [{ error: { code: 500, message: 'm' } }]],
  ];
  for (const [meaning, value] of cases) {
    it(`${JSON.stringify(value).slice(0, 90)} is ${meaning}`, () => {
      assert.equal(stream.classify(data(value)), meaning);
    });
  }

  it('is the last one if its end is in the tail, but not if the end is an argument of a call', () => {
    const long = { ...stop, groundingMetadata: { searchEntryPoint: { renderedContent: 'x'.repeat(5_000) } } };
    const bytes = Buffer.from(`data: ${JSON.stringify(chunk([{ text: 'y'.repeat(5_000) }], long))}\n\n`);
    const tail = bytes.subarray(bytes.indexOf('"finishReason"') - 100);
    assert.equal(stream.readStream(bytes.subarray(0, 100), tail).end, 'complete');
    assert.equal(stream.readStream(bytes.subarray(0, 100), tail.subarray(0, tail.length - 3)).end, 'cut');
    const args = chunk([called({ name: 'f', args: stop })]);
    const inside = Buffer.from(`data: ${JSON.stringify(args)}\n\n`);
    assert.equal(stream.readStream(inside, inside.subarray(60)).end, 'cut');
  });
});

describe('an answer to a client of Google’s format', () => {
  it('has text and thoughts as they arrive, complete calls, and its end in the last chunk', () => {
    const usage = { ...noUsage, input: 10, cacheRead: 4, output: 5, reasoning: 3 };
    const chunks = write([
      ...thought(0, 'Hm', signed),
      ...text(1, 'Yes', '.'),
      ...call(2, '{"a":1}'),
      end('tool-calls', usage),
    ]);
    assert.deepEqual(partsOf(chunks), [
      { text: 'Hm', thought: true },
      { text: 'Yes', thoughtSignature: 'c2ln' },
      { text: '.' },
      { functionCall: { id: 'id2', name: 'read', args: { a: 1 } } },
      { text: '' },
    ]);
    assert.equal(candidateOf(chunks.at(-1))['finishReason'], 'STOP');
    assert.deepEqual(chunks.at(-1)?.['usageMetadata'], {
      promptTokenCount: 14,
      candidatesTokenCount: 5,
      totalTokenCount: 22,
      cachedContentTokenCount: 4,
      thoughtsTokenCount: 3,
    });
    assert.equal(chunks.at(-1)?.['responseId'], '1');
  });

  it('has encrypted reasoning on the next part, or on an empty text if there is none', () => {
    const other: EncryptedReasoning = { ...signed, value: 'b3RoZXI=' };
    assert.deepEqual(partsOf(write([...thought(0, 'a', signed), ...thought(1, 'b', other), end('stop')])), [
      { text: 'a', thought: true },
      { text: '', thoughtSignature: 'c2ln' },
      { text: 'b', thought: true },
      { text: '', thoughtSignature: 'b3RoZXI=' },
    ]);
    assert.deepEqual(partsOf(write([...thought(0, '', signed), ...call(1, ''), end('tool-calls')])), [
      { functionCall: { id: 'id1', name: 'read', args: {} }, thoughtSignature: 'c2ln' },
      { text: '' },
    ]);
  });

  it('has thoughts only if the client asked for them, but always their encrypted reasoning', () => {
    const parts = [...thought(0, 'Hm', signed), ...text(1, 'Yes'), end('stop')];
    const seen = [{ text: 'Yes', thoughtSignature: 'c2ln' }, { text: '' }];
    assert.deepEqual(partsOf(write(parts, {})), seen);
    assert.deepEqual(
      partsOf(write(parts, { generationConfig: { thinkingConfig: { thinkingBudget: 5 } } })),
      seen,
    );
    const snake = { generation_config: { thinking_config: { include_thoughts: true } } };
    assert.deepEqual(partsOf(write(parts, snake)), [{ text: 'Hm', thought: true }, ...seen]);
  });

  it('has its blocks in sequence, however they arrived', () => {
    const [a = [], b = []] = [text(0, 'a', 'A'), call(1, '{}')];
    const mixed = [...a.slice(0, 2), ...b, ...text(2, 'c'), ...a.slice(2), end('stop')];
    assert.deepEqual(partsOf(write(mixed)), [
      { text: 'a' },
      { text: 'A' },
      { functionCall: { id: 'id1', name: 'read', args: {} } },
      { text: 'c' },
      { text: '' },
    ]);
  });

  it('shows arguments that are not an object to the tool', () => {
    const args = (input: string) =>
      objectOf(objectOf(partsOf(write([...call(0, input), end('stop')]))[0])['functionCall'])['args'];
    assert.deepEqual(args('{"a":'), { raw_arguments: '{"a":' });
    assert.deepEqual(args('[1]'), { raw_arguments: '[1]' });
    assert.deepEqual(args(' '), {});
  });

  it('leaves out an incomplete call, and says MAX_TOKENS', () => {
    for (const parts of [call(1, '{"a":', false), call(1, '{"a":').slice(0, 2)]) {
      const chunks = write([...text(0, 'x'), ...parts, end('tool-calls')]);
      assert.deepEqual(partsOf(chunks), [{ text: 'x' }, { text: '' }]);
      assert.equal(candidateOf(chunks.at(-1))['finishReason'], 'MAX_TOKENS');
    }
  });

  const ends: [EndReason, string][] = [
    ['stop', 'STOP'],
    ['stop-sequence', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['tool-calls', 'STOP'],
    ['context-full', 'MAX_TOKENS'],
    ['policy', 'SAFETY'],
    ['paused', 'STOP'],
    ['other', 'OTHER'],
  ];
  for (const [reason, expected] of ends) {
    it(`with the end reason ${reason} has the finish reason ${expected}`, () => {
      assert.equal(candidateOf(write([...text(0, 'x'), end(reason)]).at(-1))['finishReason'], expected);
    });
  }

  it('has a refusal as text, and SAFETY', () => {
    const chunks = write([
      { type: 'refusal-start', block: 0 },
      { type: 'refusal-delta', block: 0, text: 'No.' },
      { type: 'refusal-end', block: 0 },
      end('stop'),
    ]);
    assert.deepEqual(partsOf(chunks), [{ text: 'No.' }, { text: '' }]);
    assert.equal(candidateOf(chunks.at(-1))['finishReason'], 'SAFETY');
  });

  it('has citations in UTF-8 bytes of its whole text, and each source once', () => {
    const native = { format: 'openai-chat' as const, value: {} };
    const cite = (
      block: number,
      start: number | null,
      to: number | null,
      url: string | null,
    ): StreamPart => ({
      type: 'citation',
      block,
      citation: { url, title: 'T', text: 'passage', start, end: to, native },
    });
    const chunks = write([
      ...text(0, 'Zürich.'),
      ...text(1, ' 東京👋'),
      cite(1, 1, 3, 'https://a.test'),
      cite(0, null, null, 'https://a.test'),
      cite(1, 3, 99, null),
      end('stop'),
    ]);
    const grounding = objectOf(candidateOf(chunks.at(-1))['groundingMetadata']);
    assert.deepEqual(grounding['groundingChunks'], [
      { web: { uri: 'https://a.test', title: 'T' } },
      { retrievedContext: { title: 'T', text: 'passage' } },
    ]);
    assert.deepEqual(grounding['groundingSupports'], [
      { segment: { startIndex: 9, endIndex: 15, text: '東京' }, groundingChunkIndices: [0] },
      { segment: { startIndex: 0, endIndex: 8, text: 'Zürich.' }, groundingChunkIndices: [0] },
      { segment: { startIndex: 15, endIndex: 19, text: '👋' }, groundingChunkIndices: [1] },
    ]);
  });

  it('counts audio and images separately', () => {
    const usage = { ...noUsage, input: 10, audioInput: 5, output: 2, imageOutput: 7 };
    const [last] = write([end('stop', usage)]);
    const metadata = objectOf(last?.['usageMetadata']);
    assert.deepEqual(metadata['promptTokensDetails'], [
      { modality: 'TEXT', tokenCount: 10 },
      { modality: 'AUDIO', tokenCount: 5 },
    ]);
    assert.deepEqual(gemini.readUsage(Buffer.from(JSON.stringify(last))), usage);
  });

  it('is the same for the same parts', () => {
    const parts = [...thought(0, 'a', signed), ...text(1, 'b'), ...call(2, '{}'), end('stop')];
    assert.deepEqual(write(parts), write(parts));
  });
});
