import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { createCompletion } from './completion.ts';

async function asking(test: TestContext, answer: (response: ServerResponse) => void) {
  const seen: { authorization: string | undefined; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (bytes) => {
      body += bytes;
    });
    request.on('end', () => {
      seen.push({ authorization: request.headers.authorization, body });
      answer(response);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { close, complete } = createCompletion(() => `http://127.0.0.1:${port}`);
  test.after(async () => {
    await close();
    server.closeAllConnections();
    server.close();
  });
  const ask = async (signal = new AbortController().signal): Promise<string[]> => {
    const pieces: string[] = [];
    const messages = [{ role: 'user', text: 'hello' }] as const;
    for await (const piece of complete({ key: 'sk-1', model: 'm', messages, signal })) pieces.push(piece);
    return pieces;
  };
  return { ask, seen };
}

const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`;

describe('a question to a model', () => {
  it('is one request with the key, whose answer is read wherever its chunks are cut', async (test) => {
    const { ask, seen } = await asking(test, (response) => {
      const text = `${chunk('grün')}: comment\n\n${chunk(' ist')}data: {"choices":[]}\n\ndata: [DONE]\n\n`;
      const bytes = Buffer.from(text);
      const middle = bytes.indexOf('ü') + 1;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(bytes.subarray(0, middle));
      setImmediate(() => response.end(bytes.subarray(middle)));
    });
    assert.deepEqual(await ask(), ['grün', ' ist']);
    assert.equal(seen[0]?.authorization, 'Bearer sk-1');
    assert.deepEqual(JSON.parse(seen[0]?.body ?? ''), {
      model: 'm',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    });
  });

  it('is refused with the message of the gateway', async (test) => {
    const { ask } = await asking(test, (response) => {
      response.writeHead(404).end('{"error":{"message":"There is no model m"}}');
    });
    await assert.rejects(ask(), { code: 'invalid_request', message: 'There is no model m' });
  });

  it('fails where the answer breaks off with an error', async (test) => {
    const { ask } = await asking(test, (response) => {
      response.writeHead(200).end(`${chunk('a')}data: {"error":{"message":"overloaded"}}\n\n`);
    });
    await assert.rejects(ask(), { code: 'upstream_error', message: 'overloaded' });
  });

  it('ends when it is canceled', async (test) => {
    const canceled = new AbortController();
    const { ask } = await asking(test, (response) => {
      response.writeHead(200).write(chunk('a'));
      canceled.abort();
    });
    await assert.rejects(ask(canceled.signal), { name: 'AbortError' });
  });
});
