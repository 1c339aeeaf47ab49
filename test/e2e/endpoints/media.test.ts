import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI, { toFile } from 'openai';
import { formText, formType } from '../../support/clients/form.ts';
import { bearer, startGateway } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { body, chunk, end, fin, flood, head, json, stream } from '../../support/upstream/steps.ts';
import type { SeenRequest } from '../../support/upstream/upstream.ts';

const at = setting({
  config: {
    limits: { body_bytes: 2_000_000 },
    prices: {
      'openai-compatible/tts-1': { characters: 15 },
      'openai-compatible/dall-e-3': { image: 0.04 },
      'openai-compatible/rerank-1': { search_unit: 2 },
    },
  },
});

const client = () => new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key, maxRetries: 0 });

/** The fields of a form as a server reads them. */
async function formOf(seen: SeenRequest): Promise<FormData> {
  const content = await seen.whole;
  assert.equal(seen.header('content-length') ?? String(content.length), String(content.length));
  const headers = { 'content-type': seen.header('content-type') ?? '' };
  return new Response(new Uint8Array(content), { headers }).formData();
}

const bytesOf = async (value: unknown) =>
  value instanceof Blob ? Buffer.from(await value.arrayBuffer()) : value;

const picture = { created: 1, data: [{ b64_json: 'aGk=' }, { b64_json: 'aGE=' }] };

describe('pictures', () => {
  it('are made, with the tokens that the answer reports', async () => {
    const usage = {
      input_tokens: 50,
      input_tokens_details: { image_tokens: 0, text_tokens: 50 },
      output_tokens: 1000,
      total_tokens: 1050,
    };
    at.upstream.always(json(200, { ...picture, usage }));
    const { data, response } = await client()
      .images.generate({ model: 'resp/gpt-image-1', prompt: 'a cat' })
      .withResponse();
    assert.equal(data.data?.length, 2);
    const seen = await at.upstream.request();
    assert.equal(seen.path, '/v1/images/generations');
    assert.deepEqual(JSON.parse((await seen.whole).toString()), { model: 'gpt-image-1', prompt: 'a cat' });
    // 50 text tokens at 5, 1,000 picture tokens at 40 USD per million.
    assert.equal(response.headers.get('x-gateway-cost-usd'), '0.04025');
    const row = await at.gateway.entry(response.headers.get('x-request-id') ?? '');
    assert.equal(row.format, 'openai-images');
    assert.deepEqual([row.usage?.['input'], row.usage?.['image_output'], row.cost_usd], [50, 1000, 0.04025]);
  });

  it('are counted where no tokens are reported, and have no cost without a price', async () => {
    at.upstream.always(json(200, picture));
    for (const [model, cost] of [
      ['dall-e-3', 0.08],
      ['flux', null],
    ] as const) {
      const { response } = await client()
        .images.generate({ model: `up/${model}`, prompt: 'x' })
        .withResponse();
      const row = await at.gateway.entry(response.headers.get('x-request-id') ?? '');
      assert.deepEqual([row.usage?.['images'], row.cost_usd, row.estimated], [2, cost, false]);
    }
  });

  it('larger than the buffer pass through, with their usage', async () => {
    const usage = { input_tokens: 5, output_tokens: 7, total_tokens: 12 };
    const large = { created: 1, data: [{ b64_json: 'A'.repeat(12_000_000) }], usage };
    at.upstream.always(json(200, large));
    const reply = await at.gateway.ask('/v1/images/generations', { model: 'up/x', prompt: 'x' });
    assert.equal(reply.end, 'complete');
    assert.equal(reply.body.length, JSON.stringify(large).length);
    const row = await at.gateway.entry(reply.header('x-request-id'));
    assert.deepEqual([row.outcome, row.usage?.['input'], row.usage?.['image_output']], ['ok', 5, 7]);
  });

  it('pass as a stream of events, with the usage of the last', async () => {
    const done = {
      type: 'image_generation.completed',
      b64_json: 'aGk=',
      usage: { input_tokens: 5, output_tokens: 7, total_tokens: 12 },
    };
    const partial = { type: 'image_generation.partial_image', b64_json: 'aA==', partial_image_index: 0 };
    const text = [partial, done]
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('');
    at.upstream.always(stream(text, 'byte'));
    const { data, response } = await client()
      .images.generate({ model: 'up/gpt-image-1', prompt: 'x', stream: true, partial_images: 1 })
      .withResponse();
    const events: string[] = [];
    for await (const event of data) events.push(event.type);
    assert.deepEqual(events, [partial.type, done.type]);
    const row = await at.gateway.entry(response.headers.get('x-request-id') ?? '');
    assert.deepEqual([row.streamed, row.outcome, row.usage?.['image_output']], [true, 'ok', 7]);
  });

  it('are edited, several in one form', async () => {
    at.upstream.always(json(200, picture));
    const pictures = [randomBytes(3000), randomBytes(70_000)];
    const files = await Promise.all(
      pictures.map((bytes, index) => toFile(bytes, `${index}.png`, { type: 'image/png' })),
    );
    await client().images.edit({ image: files, prompt: 'größer', model: 'up/gpt-image-1' });
    const seen = await at.upstream.request();
    const form = await formOf(seen);
    assert.equal(seen.path, '/v1/images/edits');
    assert.deepEqual([form.get('model'), form.get('prompt')], ['gpt-image-1', 'größer']);
    const got = await Promise.all(form.getAll('image[]').map(bytesOf));
    assert.deepEqual(got, pictures);
    assert.equal(seen.header('authorization'), 'Bearer upstream-secret');
  });

  it('are edited by a JSON body that names them', async () => {
    at.upstream.always(json(200, picture));
    const reply = await at.gateway.ask('/images/edits', {
      model: 'up/grok',
      image: { url: 'https://x.test/a.png' },
      prompt: 'x',
    });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(JSON.parse((await (await at.upstream.request()).whole).toString()).model, 'grok');
  });

  it('that break off half-way are an error, not half an answer', async () => {
    at.upstream.always(head(200, { 'content-type': 'application/json', 'content-length': '500' }), fin());
    const reply = await at.gateway.ask('/v1/images/generations', { model: 'up/x', prompt: 'x' });
    assert.equal(reply.status, 502);
  });
});

describe('speech', () => {
  it('passes as bytes, with its characters and their price', async () => {
    const sound = randomBytes(300_000);
    at.upstream.always(body(200, sound, { 'content-type': 'audio/mpeg' }));
    const response = await client().audio.speech.create({
      model: 'up/tts-1',
      input: 'Grüße 🙂',
      voice: 'alloy',
    });
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), sound);
    assert.equal(response.headers.get('content-type'), 'audio/mpeg');
    assert.equal(response.headers.get('content-length'), '300000');
    assert.equal(response.headers.get('x-gateway-cost-usd'), '0.000105');
    const row = await at.gateway.entry(response.headers.get('x-request-id') ?? '');
    assert.deepEqual([row.format, row.usage?.['characters'], row.cost_usd], ['openai-speech', 7, 0.000105]);
  });

  it('passes before it is whole', async () => {
    const gate = Promise.withResolvers<void>();
    at.upstream.always(
      head(200, { 'content-type': 'audio/pcm', 'transfer-encoding': 'chunked' }),
      chunk('first'),
      () => gate.promise,
      chunk('last'),
      end(),
    );
    const caller = await at.gateway.client();
    const asked = { model: 'up/tts-1', input: 'x', voice: 'alloy' };
    await caller.send({
      path: '/v1/audio/speech',
      headers: { ...bearer(at.gateway.key) },
      body: JSON.stringify(asked),
    });
    const reply = await caller.open();
    await reply.until('first');
    gate.resolve();
    assert.equal((await reply.whole).text, 'firstlast');
    caller.destroy();
  });

  it('waits for a client that does not read', async () => {
    const total = 200 * 1024 * 1024;
    at.upstream.always(
      head(200, { 'content-type': 'audio/pcm', 'transfer-encoding': 'chunked' }),
      flood(Buffer.alloc(65_536, 'a'), total),
      end(),
    );
    const caller = await at.gateway.client();
    caller.socket.pause();
    const asked = { model: 'up/tts-1', input: 'x', voice: 'alloy' };
    await caller.send({
      path: '/v1/audio/speech',
      headers: bearer(at.gateway.key),
      body: JSON.stringify(asked),
    });
    const seen = await at.upstream.request();
    for (let last = -1; seen.sentBytes() !== last || last === 0; await delay(400)) last = seen.sentBytes();
    assert.ok(seen.sentBytes() < total / 8, `${seen.sentBytes()} bytes were taken`);
    caller.destroy();
    await seen.closed;
  });

  it('that breaks off is not taken for whole', async () => {
    at.upstream.always(
      head(200, { 'content-type': 'audio/pcm', 'transfer-encoding': 'chunked' }),
      chunk('half'),
      fin(),
    );
    const reply = await at.gateway.ask('/v1/audio/speech', { model: 'up/tts-1', input: 'x', voice: 'alloy' });
    assert.deepEqual([reply.status, reply.end, reply.text], [200, 'cut', 'half']);
    const row = await at.gateway.entry(reply.header('x-request-id'));
    assert.deepEqual([row.outcome, row.error?.code], ['failed', 'upstream_cut']);
  });

  it('that is answered with a web page is an error that names the base URL', async () => {
    at.upstream.always(body(200, '<html></html>', { 'content-type': 'text/html' }));
    const reply = await at.gateway.ask('/v1/audio/speech', { model: 'up/tts-1', input: 'x', voice: 'alloy' });
    assert.equal(reply.status, 502);
    assert.match(reply.text, /base URL/);
  });
});

describe('recorded speech', () => {
  const answer = { text: 'hi', usage: { type: 'duration', seconds: 90 } };

  it('is a form that may begin with its file, and costs by the hour', async () => {
    at.upstream.always(json(200, answer));
    for (const size of [1_000, 900_000]) {
      const sound = randomBytes(size);
      const file = await toFile(sound, 'größe.wav', { type: 'audio/wav' });
      const { data, response } = await client()
        .audio.transcriptions.create({ file, language: 'de', model: 'resp/whisper-1' })
        .withResponse();
      assert.equal(data.text, 'hi');
      const seen = await at.upstream.request(size === 1_000 ? 0 : 1);
      const form = await formOf(seen);
      assert.deepEqual([form.get('model'), form.get('language')], ['whisper-1', 'de']);
      assert.deepEqual(await bytesOf(form.get('file')), sound);
      // 90 seconds at 0.36 USD an hour.
      assert.equal(response.headers.get('x-gateway-cost-usd'), '0.009');
      const row = await at.gateway.entry(response.headers.get('x-request-id') ?? '');
      assert.deepEqual(
        [row.format, row.usage?.['audio_seconds'], row.cost_usd, row.model],
        ['openai-transcriptions', 90, 0.009, 'whisper-1'],
      );
    }
    assert.deepEqual(await readdir(join(at.gateway.dataDir, 'uploads')), [], 'nothing is left on disk');
  });

  it('begins upstream before its form is whole, when the model comes first', async () => {
    at.upstream.always(json(200, answer));
    const caller = await at.gateway.client();
    const [before = '', after = ''] = formText('up/w', 'sound').split('sound');
    const headers = {
      ...bearer(at.gateway.key),
      ...formType,
      'content-length': String(before.length + 5 + after.length),
    };
    await caller.send({ path: '/v1/audio/transcriptions', headers, body: before });
    const seen = await at.upstream.request();
    assert.equal(seen.path, '/v1/audio/transcriptions');
    assert.equal(seen.header('content-length'), String(before.length + 5 + after.length - 'up/'.length));
    await caller.write(`sound${after}`);
    assert.equal((await caller.reply()).status, 200);
    assert.equal((await formOf(seen)).get('model'), 'w');
    caller.destroy();
  });

  it('is translated, and answered in plain text without known usage', async () => {
    at.upstream.always(body(200, 'Hello.\n', { 'content-type': 'text/plain' }));
    const file = await toFile(Buffer.from('x'), 'a.wav');
    const { data, response } = await client()
      .audio.translations.create({ file, model: 'whisper-1', response_format: 'text' })
      .withResponse();
    assert.equal(String(data), 'Hello.\n');
    assert.equal((await at.upstream.request()).path, '/v1/audio/translations');
    const row = await at.gateway.entry(response.headers.get('x-request-id') ?? '');
    assert.deepEqual([row.outcome, row.usage, row.cost_usd], ['ok', null, null]);
  });

  it('of unknown length goes on in chunks', async () => {
    at.upstream.always(json(200, answer));
    const text = formText('up/w', 'sound');
    const sent = [text.slice(0, 30), text.slice(30)].map(
      (part) => `${part.length.toString(16)}\r\n${part}\r\n`,
    );
    const headers = { ...bearer(at.gateway.key), ...formType, 'transfer-encoding': 'chunked' };
    const reply = await at.gateway.send({
      path: '/v1/v1/audio/transcriptions',
      headers,
      body: `${sent.join('')}0\r\n\r\n`,
    });
    assert.equal(reply.status, 200, reply.text);
    const seen = await at.upstream.request();
    assert.equal(seen.header('transfer-encoding'), 'chunked');
    assert.equal((await formOf(seen)).get('model'), 'w');
  });

  it('that the upstream refuses gets an error in OpenAI’s shape', async () => {
    at.upstream.always(
      json(400, {
        error: { message: 'bad sound', type: 'invalid_request_error', param: 'file', code: null },
      }),
    );
    const file = await toFile(Buffer.from('x'), 'a.wav');
    await assert.rejects(client().audio.transcriptions.create({ file, model: 'up/w' }), (error: unknown) => {
      assert.ok(error instanceof OpenAI.BadRequestError);
      assert.match(error.message, /bad sound/);
      return true;
    });
  });

  it('is sent once only, unless nothing of it was asked for yet', async () => {
    at.upstream.always(fin());
    const headers = { ...bearer(at.gateway.key), ...formType };
    const body = formText('up/w', 'sound');
    const reply = await at.gateway.send({ path: '/v1/audio/transcriptions', headers, body });
    assert.equal(reply.status, 502);
    assert.equal(at.upstream.requests.length, 1);
  });
});

describe('a form that stops coming', () => {
  it('gets 408 in time, before and after its model, and ends the upstream request', async () => {
    const gateway = await startGateway({
      config: { limits: { body_timeout_ms: 700 } },
      connections: [{ provider: 'openai-compatible', name: 'up', baseUrl: at.upstream.url }],
    });
    try {
      for (const model of ['up/w', null]) {
        at.upstream.always(json(200, {}));
        const caller = await gateway.client();
        const headers = { ...bearer(gateway.key), ...formType, 'content-length': '100000' };
        const body = formText(model, 'x'.repeat(1000)).slice(0, 1000);
        await caller.send({ path: '/v1/audio/transcriptions', headers, body });
        const reply = await caller.reply();
        assert.equal(reply.status, 408, reply.text);
        assert.equal(at.upstream.requests.length, model === null ? 0 : 1);
        await at.upstream.requests[0]?.closed;
        const row = await gateway.entry(reply.header('x-request-id'));
        assert.ok([408, 499].includes(row.status), String(row.status));
        caller.destroy();
      }
    } finally {
      await gateway.stop();
    }
  });
});

describe('moderations and reranking', () => {
  it('of OpenAI are free', async () => {
    at.upstream.always(
      json(200, { id: 'modr-1', model: 'omni-moderation-latest', results: [{ flagged: false }] }),
    );
    const { data, response } = await client()
      .moderations.create({ model: 'resp/omni-moderation-latest', input: 'hello' })
      .withResponse();
    assert.equal(data.results[0]?.flagged, false);
    assert.equal(response.headers.get('x-gateway-cost-usd'), '0');
    assert.equal((await at.upstream.request()).path, '/v1/moderations');
  });

  it('by search units cost what the owner says', async () => {
    at.upstream.always(
      json(200, { results: [{ index: 0, relevance_score: 1 }], meta: { billed_units: { search_units: 3 } } }),
    );
    const asked = { model: 'up/rerank-1', query: 'q', documents: ['a', 'b'] };
    for (const path of ['/v1/rerank', '/rerank']) {
      const reply = await at.gateway.ask(path, asked);
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.header('x-gateway-cost-usd'), '0.006');
      const row = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([row.format, row.usage?.['search_units']], ['rerank', 3]);
    }
    assert.deepEqual(JSON.parse((await (await at.upstream.request()).whole).toString()), {
      ...asked,
      model: 'rerank-1',
    });
  });
});
