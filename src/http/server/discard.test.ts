import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it, type TestContext } from 'node:test';
import { discardBody } from './discard.ts';

const MEGABYTE = Buffer.alloc(1024 * 1024);

function discarded(test: TestContext) {
  test.mock.timers.enable({ apis: ['setTimeout'] });
  const body = new PassThrough();
  const seen = { done: 0 };
  discardBody(body, () => {
    seen.done += 1;
  });
  return { body, seen };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a request body that no handler reads', () => {
  it('is read to its end', async (test) => {
    const { body, seen } = discarded(test);
    body.write(MEGABYTE);
    body.end();
    await turn();
    await turn();
    assert.equal(seen.done, 1);
  });

  it('is left unread if it is too large, and its client gets time to read the response', async (test) => {
    const { body, seen } = discarded(test);
    for (let count = 0; count < 12; count += 1) {
      body.write(MEGABYTE);
      await turn();
    }
    assert.equal(body.isPaused(), true);
    assert.equal(seen.done, 0);
    test.mock.timers.tick(60_000);
    assert.equal(seen.done, 1);
    body.destroy();
    await turn();
    assert.equal(seen.done, 1);
  });

  it('ends when its client leaves', async (test) => {
    const { body, seen } = discarded(test);
    for (let count = 0; count < 12; count += 1) {
      body.write(MEGABYTE);
      await turn();
    }
    body.destroy();
    await turn();
    assert.equal(seen.done, 1);
    test.mock.timers.tick(60_000);
    assert.equal(seen.done, 1);
  });
});
