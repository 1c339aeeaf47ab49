import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError } from '../lib/error.ts';
import { type Channel, createChannel } from './channel.ts';

type Asked = { double: { question: number; answer: number } };

/** Two ends whose messages are structured clones, as those of two processes. */
function ends() {
  const heard: string[] = [];
  const messages = { sent: 0 };
  const faults: unknown[] = [];
  const onError = (error: unknown) => faults.push(error);
  const one: Channel<string, Asked> = createChannel({
    // So long that a test sees what waits for it.
    delayMs: 60_000,
    isUrgent: (event) => event.endsWith('!'),
    onError,
    hear() {},
    answers: {},
    send(message) {
      messages.sent += 1;
      other.receive(structuredClone(message));
    },
  });
  const other = createChannel<string, string, Asked, Asked>({
    delayMs: 0,
    onError,
    answers: {
      async double(number: number) {
        heard.push(`asked ${number}`);
        if (number < 0)
          throw new GatewayError('rate_limit_exceeded', 'Too many', {
            retryAfter: 3,
            headers: { 'x-a': '1' },
          });
        return number * 2;
      },
    },
    hear(event: string) {
      if (event === 'fault') throw new Error('not understood');
      heard.push(event);
    },
    send: (message) => one.receive(structuredClone(message)),
  });
  return { faults, heard, messages, one };
}

describe('a channel', () => {
  it('sends earlier notifications before a question, in one message', async () => {
    const { heard, messages, one } = ends();
    one.tell('first');
    one.tell('second');
    assert.equal(await one.ask('double', 21), 42);
    assert.deepEqual(heard, ['first', 'second', 'asked 21']);
    assert.equal(messages.sent, 1);
  });

  it('sends urgent notifications after this turn, with earlier ones before them', async () => {
    const { heard, messages, one } = ends();
    one.tell('first');
    await new Promise(setImmediate);
    assert.equal(messages.sent, 0);
    one.tell('now!');
    one.tell('now too!');
    await new Promise(setImmediate);
    assert.deepEqual([heard, messages.sent], [['first', 'now!', 'now too!'], 1]);
    one.tell('later');
    await new Promise(setImmediate);
    assert.equal(messages.sent, 1);
    one.close();
  });

  it('rethrows errors as they were thrown', async () => {
    const { one } = ends();
    await assert.rejects(one.ask('double', -1), (error) => {
      assert.ok(error instanceof GatewayError);
      const { code, headers, message, retryAfter } = error;
      assert.deepEqual(
        { code, headers, message, retryAfter },
        { code: 'rate_limit_exceeded', headers: { 'x-a': '1' }, message: 'Too many', retryAfter: 3 },
      );
      return true;
    });
  });

  it('continues after an unknown event', async () => {
    const { faults, heard, one } = ends();
    one.tell('fault');
    one.tell('next');
    assert.equal(await one.ask('double', 1), 2);
    assert.equal(faults.length, 1);
    assert.deepEqual(heard, ['next', 'asked 1']);
  });

  it('fails questions once the other side is gone', async () => {
    const { one } = ends();
    const asked = one.ask('double', 1);
    one.close();
    for (const question of [asked, one.ask('double', 2)])
      await assert.rejects(question, { code: 'shutting_down' });
  });
});
