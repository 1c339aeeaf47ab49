import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boundedTell } from './bounded-tell.ts';
import { createChannel } from './channel.ts';
import type { OwnerQuestions, WorkerEvent } from './message.ts';
import { sizeOf } from './size.ts';

const line: WorkerEvent = { kind: 'logged', line: 'x'.repeat(1_000) };
const settled: WorkerEvent = {
  kind: 'settled',
  settlements: new Float64Array(3),
  isMore: false,
};

/** A channel to an owner that reads nothing until it is told to. */
function stalled() {
  const takers: (() => void)[] = [];
  let events = 0;
  const channel = createChannel<never, WorkerEvent, OwnerQuestions, Record<never, never>>({
    delayMs: 0,
    hear() {},
    answers: {},
    sizeOf,
    onError: (error) => assert.fail(String(error)),
    send(message, taken) {
      events += (message as unknown[]).length;
      takers.push(taken);
    },
  });
  return {
    channel,
    events: () => events,
    read() {
      for (const taken of takers.splice(0)) taken();
    },
  };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('messages of a worker to an owner that does not read', () => {
  it('are bounded, except for what budgets need, and continue when it reads again', async () => {
    const { channel, events, read } = stalled();
    const { tell, untold } = boundedTell(channel, 10_000);
    let told = 0;
    for (let times = 0; times < 100; times += 1) {
      if (tell(line)) told += 1;
      await turn();
    }
    assert.deepEqual([told, untold()], [10, 90]);
    assert.equal(tell(settled), true);
    await turn();
    assert.equal(events(), 11);
    read();
    assert.equal(channel.waiting(), 0);
    assert.equal(tell(line), true);
    assert.equal(untold(), 90);
  });

  it('count each request and line that is left out, and keep longest what is stored nowhere else', async () => {
    const { channel, read } = stalled();
    const { isFull, tell, tellUnlessFull, untold } = boundedTell(channel, 10_000);
    const finished: WorkerEvent = {
      kind: 'finished',
      finished: { rows: 'x'.repeat(10_000), count: 7, details: [] },
    };
    assert.equal(tell(finished), true);
    assert.equal(isFull(), true);
    assert.equal(tell(finished), false);
    assert.equal(tell({ kind: 'access-logged', lines: 'one\ntwo\n', count: 2 }), false);
    assert.equal(untold(), 9);
    for (const isTold of [true, true, true, false]) assert.equal(tellUnlessFull(finished), isTold);
    assert.equal(untold(), 16);
    await turn();
    read();
    assert.equal(isFull(), false);
  });
});
