import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type HttpReceiver, startHttpReceiver } from '../../../test/support/servers/http-receiver.ts';
import { createOtlpSender, type OtlpSender } from './sender.ts';

describe('sending OTLP', () => {
  let receiver: HttpReceiver;
  const senders: OtlpSender[] = [];
  const senderOf = (input: { gzip?: boolean; timeoutMs?: number; url?: string } = {}) => {
    const { gzip = false, timeoutMs = 60_000, url = `${receiver.url}/v1/traces` } = input;
    const target = { url, headers: { 'x-key': 'CANARY' } };
    const sender = createOtlpSender({ target, gzip, timeoutMs });
    senders.push(sender);
    return sender;
  };
  before(async () => {
    receiver = await startHttpReceiver();
  });
  after(async () => {
    await Promise.all(senders.map((sender) => sender.close()));
    await receiver.close();
  });

  it('retries what a busy receiver refused', async () => {
    let asked = 0;
    receiver.answer(() => {
      asked += 1;
      return { status: asked === 1 ? 503 : 200, body: '{"partialSuccess":{}}' };
    });
    await senderOf().send({ a: 1 });
    assert.deepEqual(
      receiver.received.map(({ body, headers }) => [body, headers['x-key']]),
      [
        ['{"a":1}', 'CANARY'],
        ['{"a":1}', 'CANARY'],
      ],
    );
  });

  it('reports why something was refused, without the address and the headers', async () => {
    const plain = /^(?!.*(CANARY|127\.0\.0\.1))/;
    receiver.answer(() => ({ status: 401, body: 'who are you, CANARY?' }));
    await assert.rejects(
      senderOf().send({}),
      (error: Error) => /401/.test(error.message) && plain.test(error.message),
    );
    receiver.answer(() => ({ status: 200, body: '{"partialSuccess":{"rejectedSpans":"3"}}' }));
    await assert.rejects(senderOf().send({}), /rejected 3/);
    const nobody = senderOf({ url: 'http://127.0.0.1:9/', timeoutMs: 50 });
    await assert.rejects(
      nobody.send({}),
      (error: Error) => /ECONNREFUSED/.test(error.message) && plain.test(error.message),
    );
  });

  it('gives up after its time, and when it is closed', async () => {
    receiver.answer(() => null);
    await assert.rejects(senderOf({ timeoutMs: 50 }).send({}), /cannot be reached/);
    const closing = senderOf();
    const sent = closing.send({});
    await closing.close();
    await assert.rejects(sent, /cannot be reached/);
  });

  it('compresses if configured', async () => {
    receiver.answer(() => ({ status: 200 }));
    const sender = senderOf({ gzip: true });
    await sender.send({ long: 'x'.repeat(1000) });
    const last = receiver.received.at(-1);
    assert.equal(last?.headers['content-encoding'], 'gzip');
    assert.ok(Number(last?.headers['content-length']) < 200);
  });
});
