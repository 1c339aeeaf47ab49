import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { codecOf, codecs } from '../index.ts';
import { noUsage, type Usage, type WireFormat } from '../wire-format.ts';
import type { MediaAnswer } from './media.ts';

/** What a codec reads from an answer of this content. */
function read(format: WireFormat, text: string, more: Partial<MediaAnswer> = {}) {
  const { media } = codecOf(format);
  assert.ok(media);
  const bytes = Buffer.from(text);
  return media.usageOfAnswer({ kind: 'json', head: bytes, tail: bytes, counted: 0, ...more });
}

const exactUsage = (usage: Partial<Usage>) => ({ usage: { ...noUsage, ...usage }, estimated: false });

const picture = { created: 1, data: [{ b64_json: 'aGk=' }], size: '1024x1024' };

describe('usage of images', () => {
  for (const format of ['openai-images', 'openai-image-edits'] as const) {
    it(`${format}: separates image tokens from text tokens`, () => {
      const usage = {
        input_tokens: 50,
        input_tokens_details: { image_tokens: 40, text_tokens: 10 },
        output_tokens: 4160,
        total_tokens: 4210,
      };
      const whole = { input: 10, imageInput: 40, imageOutput: 4160 };
      assert.deepEqual(
        read(format, JSON.stringify({ ...picture, usage }), { counted: 1 }),
        exactUsage(whole),
      );
      const detailed = { ...usage, output_tokens_details: { image_tokens: 4000, text_tokens: 160 } };
      assert.deepEqual(
        read(format, JSON.stringify({ ...picture, usage: detailed })),
        exactUsage({ ...whole, imageOutput: 4000, output: 160 }),
      );
    });

    it(`${format}: reads the event that ends a stream`, () => {
      const done = {
        type: 'image_generation.completed',
        b64_json: 'x'.repeat(100),
        usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
      };
      const events = `event: image_generation.partial_image\ndata: {"b64_json":"eA=="}\n\nevent: ${done.type}\ndata: ${JSON.stringify(done)}\n\n`;
      assert.deepEqual(read(format, events, { kind: 'events' }), exactUsage({ input: 5, imageOutput: 7 }));
    });

    it(`${format}: counts the images if no tokens are reported`, () => {
      assert.deepEqual(read(format, JSON.stringify(picture), { counted: 3 }), exactUsage({ images: 3 }));
      assert.equal(read(format, JSON.stringify({ created: 1, data: [] })), null);
      assert.equal(read(format, '<html>', { kind: 'other', counted: 3 }), null);
    });
  }

  it('is read from the last bytes of an answer that is too large for memory', () => {
    const tail = '…AAAA"}],"usage":{"input_tokens":5,"output_tokens":7}}';
    assert.deepEqual(read('openai-images', tail), exactUsage({ input: 5, imageOutput: 7 }));
  });
});

describe('usage of speech', () => {
  const requestUsage = (body: unknown) =>
    codecOf('openai-speech').media?.usageOfRequest(Buffer.from(JSON.stringify(body)));

  it('is the number of characters in the request, counted as code points', () => {
    assert.deepEqual(requestUsage({ model: 'tts-1', input: 'Grüße 🙂' }), exactUsage({ characters: 7 }));
    assert.equal(requestUsage({ model: 'tts-1' }), null);
    assert.equal(requestUsage({ model: 'tts-1', input: ['a'] }), null);
    assert.equal(requestUsage(null), null);
  });

  it('is the tokens that the last event of a stream reports', () => {
    const usage = { input_tokens: 14, output_tokens: 101, total_tokens: 115 };
    const events = `data: {"type":"speech.audio.delta","audio":"aGk="}\n\ndata: ${JSON.stringify({ type: 'speech.audio.done', usage })}\n\n`;
    assert.deepEqual(
      read('openai-speech', events, { kind: 'events' }),
      exactUsage({ input: 14, audioOutput: 101 }),
    );
    assert.equal(read('openai-speech', 'ID3…', { kind: 'other' }), null);
  });
});

describe('usage of transcriptions', () => {
  const cases: [string, object, Partial<Usage>][] = [
    ['its length', { type: 'duration', seconds: 12.5 }, { audioSeconds: 12.5 }],
    [
      'its tokens, sound apart from text',
      {
        type: 'tokens',
        input_tokens: 14,
        input_token_details: { text_tokens: 4, audio_tokens: 10 },
        output_tokens: 45,
      },
      { input: 4, audioInput: 10, output: 45 },
    ],
    [
      "Mistral's length, which its tokens are of",
      { prompt_audio_seconds: 203, prompt_tokens: 4, total_tokens: 3264, completion_tokens: 635 },
      { audioSeconds: 203 },
    ],
  ];
  for (const [name, usage, expected] of cases) {
    it(`is ${name}`, () => {
      for (const format of ['openai-transcriptions', 'openai-translations'] as const) {
        assert.deepEqual(read(format, JSON.stringify({ text: 'hi', usage })), exactUsage(expected));
        const done = JSON.stringify({ type: 'transcript.text.done', text: 'hi', usage });
        assert.deepEqual(read(format, `data: ${done}\n\n`, { kind: 'events' }), exactUsage(expected));
      }
    });
  }

  it('is estimated by the duration at the start of verbose_json if nothing is reported', () => {
    const verbose = { task: 'transcribe', language: 'english', duration: 8.47, text: 'x'.repeat(1000) };
    assert.deepEqual(read('openai-transcriptions', JSON.stringify(verbose)), {
      usage: { ...noUsage, audioSeconds: 8.47 },
      estimated: true,
    });
    const last = { text: 'x'.repeat(1000), duration: 8.47 };
    assert.equal(read('openai-transcriptions', JSON.stringify(last)), null);
  });

  it('is unknown for text and subtitles, and not read from the transcribed text', () => {
    assert.equal(read('openai-transcriptions', 'WEBVTT', { kind: 'other' }), null);
    assert.equal(
      read('openai-transcriptions', JSON.stringify({ text: '"usage":{"seconds":5},"duration":4' })),
      null,
    );
  });
});

describe('usage of rerank and moderations', () => {
  const cases: [string, WireFormat, object, Partial<Usage> | null][] = [
    [
      "Cohere's search units",
      'rerank',
      { results: [], meta: { billed_units: { search_units: 2 } } },
      { searchUnits: 2 },
    ],
    [
      "OpenRouter's search units",
      'rerank',
      { results: [], usage: { search_units: 1, total_tokens: 150 } },
      { searchUnits: 1 },
    ],
    ["Jina's tokens", 'rerank', { usage: { total_tokens: 815 }, results: [] }, { input: 815 }],
    [
      "vLLM's tokens",
      'rerank',
      { usage: { prompt_tokens: 56, total_tokens: 56 }, results: [] },
      { input: 56 },
    ],
    ['nothing', 'rerank', { results: [{ document: { text: '"usage":{"total_tokens":1}' } }] }, null],
    ['nothing', 'openai-moderations', { results: [{ flagged: false }] }, null],
    [
      'tokens',
      'openai-moderations',
      { results: [], usage: { prompt_tokens: 3, total_tokens: 3 } },
      { input: 3 },
    ],
  ];
  for (const [name, format, body, expected] of cases) {
    it(`of ${format} is ${name}`, () => {
      const usage = codecOf(format).readUsage(Buffer.from(JSON.stringify(body)));
      assert.deepEqual(usage, expected === null ? null : { ...noUsage, ...expected });
    });
  }
});

it('codecs never throw for a damaged answer', () => {
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .array(
        fc.constantFrom(
          '{',
          '}',
          '"usage":',
          '"billed_units":',
          '"seconds":1e999',
          '"duration":1e',
          '[',
          ']',
          ',',
          '\n\n',
        ),
      )
      .map((words) => words.join('')),
  );
  const kinds = fc.constantFrom('json' as const, 'events' as const, 'other' as const);
  fc.assert(
    fc.property(text, kinds, fc.nat({ max: 3 }), (body, kind, counted) => {
      const bytes = Buffer.from(body);
      for (const { media, readUsage } of codecs) {
        readUsage(bytes);
        const mediaUsage = media?.usageOfAnswer({ kind, head: bytes, tail: bytes, counted });
        media?.usageOfRequest(bytes);
        if (mediaUsage)
          for (const count of Object.values(mediaUsage.usage))
            assert.ok(Number.isFinite(count) && count >= 0);
      }
    }),
  );
});
