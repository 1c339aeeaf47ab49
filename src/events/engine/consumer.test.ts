import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventIn } from '../../../test/support/cloud-event.ts';
import { createLog } from '../../lib/log.ts';
import { createMemoryChannel } from '../channels/memory/memory-channel.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Retry, Trigger } from '../config/config.ts';
import type { ProcessorOutcome } from '../processors/processor.ts';
import { monotonicClock } from '../strategies/clock.ts';
import { createGate } from '../strategies/gate.ts';
import { retryDelay } from './backoff.ts';
import { createConsumer } from './consumer.ts';

const log = createLog({ level: 'silent', write: () => {}, pretty: false });
const event = (id: string): CloudEvent => ({
  attributes: { specversion: '1.0', id, source: '/test', type: 't' },
  data: Buffer.from('x'),
});
const retry = (outcome: Partial<ProcessorOutcome> = {}): ProcessorOutcome =>
  ({ kind: 'retry', reason: 'status 503', status: 503, afterMs: 0, ...outcome }) as ProcessorOutcome;
const done: ProcessorOutcome = { kind: 'done' };

interface Setup {
  /** What the processor answers, one after the other; the last again and again. */
  outcomes: readonly ProcessorOutcome[];
  retry?: Retry | null;
  deadLetters?: boolean;
  afterRetries?: number;
  wants?: (event: CloudEvent) => boolean;
}

function setUp({
  afterRetries = 99,
  deadLetters = true,
  outcomes,
  retry: rule = null,
  wants = () => true,
}: Setup) {
  const channel = createMemoryChannel({ now: Date.now });
  const letters = createMemoryChannel({ now: Date.now });
  const seen: string[] = [];
  const trigger: Trigger = {
    id: 'trigger',
    processor: { kind: 'log', name: '' },
    bufferSize: 256,
    idempotent: false,
    runtime: { retry: rule, rateLimit: null, circuitBreaker: null, concurrency: null, faultTolerance: null },
    deadLetters: {
      afterRetries,
      store: { kind: 'channel', channel: { id: 'dead', scheme: 'memory', url: 'memory:', topic: 'dead' } },
    },
  };
  let settled = () => {};
  const consumer = createConsumer({
    trigger,
    channelId: 'main',
    channel: {
      ...channel,
      async ack(name, id) {
        await channel.ack(name, id);
        settled();
      },
    },
    wants,
    processor: {
      async process({ attributes }) {
        seen.push(attributes.id);
        return outcomes[seen.length - 1] ?? outcomes.at(-1) ?? done;
      },
      close: async () => {},
    },
    gate: createGate(monotonicClock),
    deadLetters: deadLetters ? letters : null,
    log,
    now: () => 0,
    random: () => 0.5,
  });
  /** Resolves when so many events are done with. */
  const acks = (count: number) =>
    new Promise<void>((resolve) => {
      let left = count;
      settled = () => {
        left -= 1;
        if (left === 0) resolve();
      };
    });
  const dead = async () => {
    await letters.subscribe('reader');
    return letters.receive('reader', 99, 1_000);
  };
  return { channel, consumer, seen, acks, dead };
}

const quick: Retry = { max: 3, delayMs: 0, growth: 'linear' };

describe('a consumer', () => {
  it('brings each event to its processor once, when that takes it', async () => {
    const { acks, channel, consumer, dead, seen } = setUp({ outcomes: [done] });
    const two = acks(2);
    await consumer.start();
    for (const id of ['1', '2']) await channel.publish(event(id));
    await two;
    await consumer.stop();
    assert.deepEqual(seen.sort(), ['1', '2']);
    assert.deepEqual(await dead(), []);
  });

  it('lets go of what no router leads to it', async () => {
    const { acks, channel, consumer, seen } = setUp({
      outcomes: [done],
      wants: ({ attributes }) => attributes.id === '2',
    });
    const two = acks(2);
    await consumer.start();
    for (const id of ['1', '2']) await channel.publish(event(id));
    await two;
    await consumer.stop();
    assert.deepEqual(seen, ['2']);
  });

  const endings: readonly [what: string, setup: Setup, attempts: number, reason: string | null][] = [
    ['succeeds at the second attempt', { outcomes: [retry(), done], retry: quick }, 2, null],
    ['is a dead letter after its retries', { outcomes: [retry()], retry: quick }, 4, 'exhausted'],
    ['is a dead letter without retries', { outcomes: [retry()] }, 1, 'exhausted'],
    [
      'is a dead letter at the threshold',
      { outcomes: [retry()], retry: quick, afterRetries: 1 },
      2,
      'exhausted',
    ],
    [
      'is a dead letter at once when no retry helps',
      { outcomes: [{ kind: 'failed', reason: 'status 400', status: 400 }], retry: quick },
      1,
      'nonretryable',
    ],
    ['is discarded where dead letters are not kept', { outcomes: [retry()], deadLetters: false }, 1, null],
  ];
  for (const [what, setup, attempts, reason] of endings)
    it(`has an event that ${what}`, async () => {
      const { acks, channel, consumer, dead, seen } = setUp(setup);
      const one = acks(1);
      await consumer.start();
      await channel.publish(event('1'));
      await one;
      await consumer.stop();
      assert.equal(seen.length, attempts);
      const [letter, ...more] = await dead();
      assert.equal(more.length, 0);
      if (letter === undefined) return assert.equal(reason, null);
      const { attributes, data } = eventIn(letter);
      assert.equal(attributes['dlreason'], reason);
      assert.equal(attributes['dlattempts'], attempts);
      assert.equal(attributes['dltrigger'], 'trigger');
      assert.equal(attributes['dlchannel'], 'main');
      assert.equal(attributes.id, '1');
      assert.deepEqual(data, Buffer.from('x'));
    });

  it('stops when its receiver is gone, and keeps the event', async () => {
    const { channel, consumer, seen } = setUp({ outcomes: [{ kind: 'gone', reason: 'status 410' }] });
    await channel.publish(event('1'));
    await consumer.start();
    await consumer.stop();
    await channel.publish(event('2'));
    assert.ok(seen.length <= 1);
    const kept = await channel.receive('trigger', 9, 1_000);
    assert.deepEqual(
      kept.map((delivery) => [eventIn(delivery).attributes.id, delivery.attempt]),
      [
        ['1', 1],
        ['2', 1],
      ],
    );
  });
});

describe('the wait before a retry', () => {
  const rule = (growth: Retry['growth'], delayMs = 1_000): Retry => ({ max: 9, delayMs, growth });
  const delays = (retryRule: Retry, random = 0.5) =>
    [1, 2, 3, 4].map((nth) => retryDelay(retryRule, nth, 0, random));

  it('grows by the delay, or doubles', () => {
    assert.deepEqual(delays(rule('linear')), [1_000, 2_000, 3_000, 4_000]);
    assert.deepEqual(delays(rule('exponential')), [1_000, 2_000, 4_000, 8_000]);
  });

  it('is an hour at most, a tenth more or less', () => {
    assert.deepEqual(delays(rule('exponential', 3_000_000)), [3_000_000, 3_600_000, 3_600_000, 3_600_000]);
    assert.equal(retryDelay(rule('exponential'), 1_000_000, 0, 0.5), 3_600_000);
    assert.equal(retryDelay(rule('linear'), 1, 0, 0), 900);
    assert.equal(retryDelay(rule('linear'), 1, 0, 1), 1_100);
  });

  it('is never shorter than what the receiver asked for', () => {
    assert.equal(retryDelay(rule('linear'), 1, 5_000, 0), 5_000);
  });
});
