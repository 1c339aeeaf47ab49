import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fieldText, formEnds, formText, formType } from '../../support/clients/form.ts';
import { bearer, settledRows, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

const LIMIT = 250_000_000;
const at = setting({ config: { limits: { body_bytes: LIMIT } } });

function sendForm(text: string, key = at.gateway.key) {
  const headers = { ...bearer(key), ...formType };
  return at.gateway.send({ path: '/v1/audio/transcriptions', headers, body: text });
}

describe('a form that cannot be served', () => {
  const second = fieldText('model', 'up/other');
  const cases: Record<string, [text: () => string, status: number, code: string]> = {
    'names no model': [() => formText(null, 'x'), 400, 'missing_model'],
    'names an empty model': [() => formText('', 'x'), 400, 'missing_model'],
    'names two models': [() => formText('up/w', 'x', second), 400, 'duplicate_field'],
    'is no form': [() => 'hello', 400, 'invalid_request'],
    'is cut': [() => formText('up/w', 'x').slice(0, -10), 400, 'invalid_request'],
    'names a model that nobody has': [() => formText('nobody', 'x'), 404, 'model_not_found'],
    'asks the demo': [() => formText('demo/echo', 'x'), 400, 'format_not_supported'],
  };
  for (const [what, [text, status, code]] of Object.entries(cases)) {
    it(`because it ${what} gets ${code}`, async () => {
      at.upstream.always(json(200, { text: 'hi' }));
      const reply = await sendForm(text());
      assert.equal(reply.status, status, reply.text);
      assert.equal((reply.json()['error'] as { code: string }).code, code, reply.text);
      const row = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([row.status, row.error?.code, row.format], [status, code, 'openai-transcriptions']);
    });
  }

  it('of a key that may use another model only gets model_not_allowed', async () => {
    const added = await at.gateway.cliJson('keys', 'add', 'narrow', '--models', 'up/allowed');
    const key = String(added['key']);
    at.upstream.always(json(200, { text: 'hi' }));
    await waitFor('the key', async () => (await sendForm(formText('up/allowed', 'x'), key)).status === 200);
    const reply = await sendForm(formText('up/w', 'x'), key);
    assert.equal(reply.status, 403, reply.text);
  });

  it('because it is JSON, or JSON that is a form, gets 415 and what the path takes', async () => {
    for (const [path, type] of [
      ['/v1/audio/transcriptions', 'application/json'],
      ['/v1/audio/translations', 'text/plain'],
      ['/v1/audio/speech', formType['content-type']],
      ['/v1/images/generations', formType['content-type']],
    ] as const) {
      const reply = await at.gateway.ask(path, '{}', { 'content-type': type });
      assert.equal(reply.status, 415, reply.text);
      assert.match(reply.text, path.includes('trans') ? /takes a form/ : /takes JSON/);
    }
  });

  it('because it is compressed gets 415', async () => {
    const headers = { ...bearer(at.gateway.key), ...formType, 'content-encoding': 'gzip' };
    const reply = await at.gateway.send({ path: '/v1/audio/transcriptions', headers, body: 'x' });
    assert.equal(reply.status, 415, reply.text);
  });
});

describe('a client that leaves in the middle of its form', () => {
  for (const [when, model] of [
    ['after the model', 'up/w'],
    ['before the model', null],
  ] as const) {
    it(`${when} ends the upstream request, and leaves one entry`, async () => {
      at.upstream.always(json(200, {}));
      const before = await settledRows(at.gateway);
      const caller = await at.gateway.client();
      const headers = { ...bearer(at.gateway.key), ...formType, 'content-length': '1000000' };
      await caller.send({
        path: '/v1/audio/transcriptions',
        headers,
        body: formText(model, 'x'.repeat(300_000)).slice(0, 300_000),
      });
      const seen = model === null ? null : await at.upstream.request();
      caller.destroy();
      await seen?.closed;
      await waitFor('the entry', async () => (await at.gateway.entries()).length > before);
      const row = (await at.gateway.entries()).at(-1);
      assert.deepEqual([row?.status, row?.outcome], [499, 'aborted']);
    });
  }
});

const MEGABYTE = 1_000_000;
const UPLOAD = 200 * MEGABYTE;
/** What an upload may add to the gateway's memory: buffers of sockets, and what waits for the collector. */
const ROOM = 110 * MEGABYTE;

/** An upstream that serves one request as `answer` says, and reads no faster than that asks. */
async function serveWith(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<string> {
  const server = createServer((received, response) => void answer(received, response).catch(() => {}));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const name = `big-${(server.address() as AddressInfo).port}`;
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await at.gateway.connect({ provider: 'openai-compatible', name, baseUrl });
  return name;
}

interface Sent {
  status: number;
  text: string;
  /** Bytes of the file that were taken by the gateway. */
  bytes: number;
}

/** Sends a form with a file of `size` bytes, at the gateway's pace. */
async function upload(before: string, size: number, after: string): Promise<Sent> {
  const length = before.length + size + after.length;
  const sending = request(`${at.gateway.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { ...bearer(at.gateway.key), ...formType, 'content-length': String(length) },
  });
  let response: IncomingMessage | null = null;
  const answered = new Promise<void>((resolve) => {
    sending.on('response', (received) => {
      response = received;
      resolve();
    });
    sending.on('error', () => resolve());
  });
  const block = Buffer.alloc(MEGABYTE, 'sound ');
  let bytes = 0;
  sending.write(before);
  while (bytes < size && response === null && !sending.destroyed) {
    const some = block.subarray(0, Math.min(block.length, size - bytes));
    bytes += some.length;
    if (!sending.write(some)) await Promise.race([once(sending, 'drain'), answered]);
  }
  if (response === null) sending.end(after);
  await answered;
  const received = response as IncomingMessage | null;
  assert.ok(received, 'no answer came');
  let text = '';
  for await (const piece of received) text += String(piece);
  sending.destroy();
  return { status: received.statusCode ?? 0, text, bytes };
}

/** The most memory that the gateway has while `work` is done, beyond what it had before. */
async function growth<T>(work: Promise<T>): Promise<{ bytes: number; result: T }> {
  const before = await at.gateway.residentBytes();
  let most = before;
  let done = false;
  const watching = (async () => {
    while (!done) {
      most = Math.max(most, await at.gateway.residentBytes());
      await delay(10);
    }
  })();
  const result = await work.finally(() => {
    done = true;
  });
  await watching;
  return { bytes: most - before, result };
}

describe('an upload of 200 MB', () => {
  const orders = {
    'with its model first': (model: string) => [fieldText('model', model) + formEnds.before, formEnds.after],
    'with its model last': (model: string) => [
      formEnds.before,
      `\r\n${fieldText('model', model)}${formEnds.after.slice(2)}`,
    ],
  };
  for (const [order, ends] of Object.entries(orders)) {
    it(`${order} goes through without being held in memory`, async (t) => {
      let bytes = 0;
      let length = '';
      const name = await serveWith(t, async (received, response) => {
        length = received.headers['content-length'] ?? '';
        for await (const chunk of received) bytes += (chunk as Buffer).length;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ text: 'hi' }));
      });
      const [before = '', after = ''] = ends(`${name}/w`);
      const { bytes: grown, result } = await growth(upload(before, UPLOAD, after));
      assert.equal(result.status, 200, result.text);
      const expected = before.length + UPLOAD + after.length - name.length - 1;
      assert.deepEqual([bytes, Number(length)], [expected, expected]);
      assert.ok(grown < ROOM, `the gateway grew by ${Math.round(grown / MEGABYTE)} MB`);
      if (order.endsWith('last')) assert.deepEqual(await readdir(join(at.gateway.dataDir, 'uploads')), []);
    });
  }

  it('waits for an upstream that does not read', async (t) => {
    const gate = Promise.withResolvers<void>();
    const name = await serveWith(t, async (received, response) => {
      await gate.promise;
      for await (const _ of received);
      response.setHeader('content-type', 'application/json');
      response.end('{"text":"hi"}');
    });
    const before = fieldText('model', `${name}/w`) + formEnds.before;
    const whole = upload(before, UPLOAD, formEnds.after);
    const { bytes } = await growth(delay(1_500));
    gate.resolve();
    assert.ok(bytes < ROOM, `the gateway grew by ${Math.round(bytes / MEGABYTE)} MB`);
    assert.equal((await whole).status, 200);
  });

  it('that the upstream refuses at once gets its answer, and is not read to its end', async (t) => {
    const name = await serveWith(t, async (_, response) => {
      response.writeHead(413, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'too much sound', type: 'invalid_request_error' } }));
    });
    const before = fieldText('model', `${name}/w`) + formEnds.before;
    const { bytes, status, text } = await upload(before, UPLOAD, formEnds.after);
    assert.equal(status, 413, text);
    assert.match(text, /too much sound/);
    assert.ok(bytes < UPLOAD / 2, `${bytes} bytes were read`);
  });

  it('that is not a form is refused after its first bytes', async () => {
    const { bytes, status } = await upload('preamble', UPLOAD, '');
    assert.equal(status, 400);
    assert.ok(bytes < UPLOAD / 2, `${bytes} bytes were read`);
  });

  it('beyond the limit is refused, announced or not', async () => {
    const { status, bytes } = await upload(
      fieldText('model', 'up/w') + formEnds.before,
      LIMIT,
      formEnds.after,
    );
    assert.equal(status, 413);
    assert.ok(bytes < UPLOAD / 2, `${bytes} bytes were read`);
  });
});
