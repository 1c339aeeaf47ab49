import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { recorded, recordedAs, streamOf } from '../../../test/support/formats/stream-records.ts';
import type { StreamFacts } from '../codec.ts';
import { noUsage, type Usage, type WireFormat } from '../wire-format.ts';

/** Complete streams of ten tokens in and five out. */
function plain(format: WireFormat, ...names: string[]): typeof expectations {
  return names.map((name) => [format, `${name}.sse`, 'complete', { input: 10, output: 5 }]);
}

const expectations: [WireFormat, string, StreamFacts['end'], Partial<Usage> | null][] = [
  [
    'openai-chat',
    'text.sse',
    'complete',
    { input: 348, cacheRead: 1024, cacheWrite5m: 128, output: 128, reasoning: 192 },
  ],
  [
    'openai-chat',
    'crlf.sse',
    'complete',
    { input: 348, cacheRead: 1024, cacheWrite5m: 128, output: 128, reasoning: 192 },
  ],
  ['openai-chat', 'tools.sse', 'complete', { input: 348, cacheRead: 1024, cacheWrite5m: 128, output: 320 }],
  [
    'openai-chat',
    'reasoning-deepseek.sse',
    'complete',
    { input: 36, cacheRead: 64, output: 10, reasoning: 30 },
  ],
  ['openai-chat', 'overloaded.sse', 'error', null],
  ['openai-completions', 'text.sse', 'complete', { input: 18, output: 7 }],
  [
    'anthropic-messages',
    'tools.sse',
    'complete',
    { input: 21, cacheRead: 12_000, cacheWrite5m: 1_000, cacheWrite1h: 2_000, output: 197, reasoning: 60 },
  ],
  ['anthropic-messages', 'server-tool.sse', 'complete', { input: 4_100, output: 90, webSearches: 1 }],
  [
    'anthropic-messages',
    'overloaded.sse',
    'error',
    { input: 21, cacheRead: 12_000, cacheWrite5m: 1_000, cacheWrite1h: 2_000, output: 2 },
  ],
  [
    'openai-responses',
    'tools.sse',
    'complete',
    { input: 400, cacheRead: 1_500, cacheWrite5m: 100, output: 150, reasoning: 250 },
  ],
  [
    'openai-responses',
    'incomplete.sse',
    'complete',
    { input: 400, cacheRead: 1_500, cacheWrite5m: 100, output: 16 },
  ],
  ['openai-responses', 'failed.sse', 'error', null],
  ['gemini', 'text.sse', 'complete', { input: 256, cacheRead: 768, output: 15 }],
  ['gemini', 'tools.sse', 'complete', { input: 310, output: 64, reasoning: 52 }],
  ['gemini', 'thinking.sse', 'complete', { input: 40, output: 5, reasoning: 220 }],
  ['gemini', 'grounding.sse', 'complete', { input: 240, output: 12, reasoning: 33, webSearches: 2 }],
  ['gemini', 'image.sse', 'complete', { input: 12, imageOutput: 1_290 }],
  ['gemini', 'blocked.sse', 'complete', { input: 19 }],
  ['gemini', 'overloaded.sse', 'error', { input: 12, output: 2 }],
  [
    'openai-chat',
    'usage-all.sse',
    'complete',
    {
      input: 110,
      cacheRead: 1_000,
      cacheWrite5m: 30,
      audioInput: 20,
      output: 42,
      reasoning: 20,
      audioOutput: 8,
    },
  ],
  [
    'anthropic-messages',
    'usage-all.sse',
    'complete',
    {
      input: 100,
      cacheRead: 1_000,
      cacheWrite5m: 10,
      cacheWrite1h: 20,
      output: 30,
      reasoning: 20,
      webSearches: 2,
    },
  ],
  [
    'openai-responses',
    'usage-all.sse',
    'complete',
    { input: 100, cacheRead: 1_000, cacheWrite5m: 30, output: 50, reasoning: 20 },
  ],
  [
    'gemini',
    'usage-all.sse',
    'complete',
    { input: 77, cacheRead: 1_000, audioInput: 20, imageInput: 10, output: 50, reasoning: 20 },
  ],
  ...plain('openai-chat', 'citations', 'custom', 'encrypted', 'interleaved', 'refusal', 'stops-context-full'),
  ...plain('openai-chat', 'stops-error', 'stops-length-in-call', 'stops-policy', 'stops-unknown'),
  ...plain('openai-completions', 'stops-length', 'stops-policy'),
  ...plain('anthropic-messages', 'citations', 'encrypted', 'refusal', 'stops-context-full', 'stops-paused'),
  ...plain('anthropic-messages', 'stops-length-in-call', 'stops-sequence', 'stops-unknown'),
  ['openai-responses', 'citations.sse', 'complete', { input: 10, output: 5, webSearches: 1 }],
  ...plain('openai-responses', 'custom', 'encrypted', 'refusal', 'stops-length-in-call', 'stops-policy'),
  ...plain('openai-responses', 'stops-unknown'),
  ...plain('gemini', 'custom', 'stops-length', 'stops-malformed', 'stops-other', 'stops-policy'),
];

describe('the facts of a recorded stream', () => {
  it('have an expectation for every fixture', () => {
    assert.equal(expectations.length, recorded.length);
  });

  for (const [format, name, end, usage] of expectations) {
    it(`are the same for ${format}/${name} wherever its head and tail are cut`, () => {
      const bytes = recordedAs(format, name);
      const expected = usage === null ? null : { ...noUsage, ...usage };
      const stream = streamOf(format);
      // Where the last usage object begins; a tail that begins later does not have it.
      const places = [
        '"usage":{"prompt',
        '"usage":{"input',
        end === 'error' ? '"usageMetadata"' : '"finishReason"',
      ];
      // This format has no count of searches but the items themselves, in the last event.
      const counted = format === 'openai-responses' && (usage?.webSearches ?? 0) > 0;
      const last = counted
        ? bytes.lastIndexOf('event: ')
        : Math.max(...places.map((place) => bytes.lastIndexOf(place)));
      const first = bytes.indexOf('"usage":{"input');
      const frameEnd = first === -1 ? 0 : bytes.indexOf('\n\n', first) + 2;
      for (let from = 0; from <= (last === -1 ? bytes.length - 400 : last); from += 1) {
        const facts = stream.readStream(bytes.subarray(0, Math.max(from, frameEnd)), bytes.subarray(from));
        assert.deepEqual([from, facts.usage], [from, expected]);
        if (end !== 'error') assert.equal(facts.end, end, `tail from ${from}`);
      }
      assert.equal(stream.readStream(bytes, bytes).end, end);
      assert.equal(stream.readStream(bytes, Buffer.alloc(0)).end, end);
    });
  }

  for (const [format, name, end] of expectations.filter(([, , kind]) => kind === 'complete')) {
    it(`say that ${format}/${name} is ${end} only if it has its terminal event`, () => {
      const bytes = recordedAs(format, name);
      const terminals: Partial<Record<WireFormat, string>> = {
        'openai-chat': '"finish_reason":"',
        'openai-completions': '"finish_reason":"',
        'anthropic-messages': 'event: message_stop',
        'openai-responses': bytes.includes('event: response.incomplete')
          ? 'event: response.incomplete'
          : 'event: response.completed',
        gemini: name === 'blocked.sse' ? '"blockReason"' : '"finishReason"',
      };
      const at = bytes.indexOf(terminals[format] ?? '');
      assert.ok(at > 0);
      for (const cut of [at, Math.floor(at / 2), 10]) {
        const facts = streamOf(format).readStream(bytes.subarray(0, cut), bytes.subarray(0, cut));
        assert.equal(facts.end, 'cut');
        assert.equal(facts.error, null);
      }
    });
  }

  it('recognize a terminal event that is longer than the tail by its usage', () => {
    const bytes = recordedAs('openai-responses', 'tools.sse');
    const tail = bytes.subarray(bytes.lastIndexOf('"usage"'));
    assert.equal(streamOf('openai-responses').readStream(bytes.subarray(0, 500), tail).end, 'complete');
    const broken = bytes.subarray(bytes.length - 300, bytes.length - 1);
    assert.equal(
      streamOf('openai-responses').readStream(bytes.subarray(0, 500), broken.subarray(0, 270)).end,
      'cut',
    );
  });
});
