import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock, settled } from '../../../../test/support/machine/fake-clock.ts';
import { createLog } from '../../../lib/log.ts';
import { type Channel, ChannelFull } from '../../channels/channel.ts';
import { createMemoryChannel } from '../../channels/memory/memory-channel.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Retry, Source, Storage } from '../../config/config.ts';
import { createMemorySpool } from '../../spool/memory.ts';
import type { Admission, RefusedCall } from '../../strategies/gate.ts';
import { createChannelHealths } from './channel-health.ts';
import { createPublisher } from './publisher.ts';

const log = createLog({ level: 'silent', write: () => {}, pretty: false });
const event = (id: string, bytes = 0): CloudEvent => ({
  attributes: { specversion: '1.0', id, source: '/test', type: 't' },
  data: bytes === 0 ? null : Buffer.alloc(bytes),
});
const memory: Storage = { type: 'memory', bytes: 10_000, whenFull: 'block' };
const linear = (max: number): Retry => ({ max, delayMs: 1_000, growth: 'linear' });
const exponential = (max: number): Retry => ({ max, delayMs: 1_000, growth: 'exponential' });

/** A channel that fails when it is told to, and knows what came when. */
function scriptedChannel(now: () => number) {
  const published: string[] = [];
  const attempts: { id: string; at: number }[] = [];
  let fail: (id: string) => Error | 'hang' | null = () => null;
  const channel: Channel = {
    ...createMemoryChannel({ now }),
    async publish({ attributes: { id } }) {
      attempts.push({ id, at: now() });
      const failure = fail(id);
      if (failure === 'hang') return new Promise<void>(() => {});
      if (failure !== null) throw failure;
      published.push(id);
    },
  };
  return {
    channel,
    published,
    attempts,
    fails(rule: typeof fail) {
      fail = rule;
    },
  };
}

interface Setup {
  asyncSend?: boolean;
  storage?: Storage | null;
  retry?: Retry | null;
  channels?: readonly string[];
  admit?: (channelId: string) => Admission;
}

const admitted: Admission = { kind: 'admitted', done() {}, cancel() {} };

function setUp({
  admit = () => admitted,
  asyncSend = false,
  channels: names = ['main'],
  retry = null,
  storage = null,
}: Setup) {
  const clock = createFakeClock();
  const channels = new Map(names.map((name) => [name, scriptedChannel(clock.now)]));
  const source: Source = {
    id: 'app',
    processor: { kind: 'http', name: '' },
    asyncSend,
    storage,
    runtime: { retry, rateLimit: null, circuitBreaker: null, concurrency: null, faultTolerance: null },
  };
  const spool = storage === null ? null : createMemorySpool(storage);
  const publisher = createPublisher(
    { source, channels: new Map([...channels].map(([id, { channel }]) => [id, channel])), takes: () => true },
    {
      gateOf: (id) => ({ admit: () => admit(id) }),
      healthOf: createChannelHealths(clock),
      spool,
      clock,
      onPublished: () => {},
      random: () => 0.5,
      log,
    },
  );
  const of = (name: string) => {
    const channel = channels.get(name);
    assert.ok(channel !== undefined);
    return channel;
  };
  return { clock, publisher, of, source, main: channels.get('main') ?? scriptedChannel(clock.now) };
}

const down = () => new Error('down');
const rejected = (reason: string, retryAfterMs: number | null = 1_000) => ({
  kind: 'rejected',
  reason,
  retryAfterMs,
});

describe('a synchronous source', () => {
  it('publishes each event once into every channel, and says by which source it came', async () => {
    const { of, publisher } = setUp({ channels: ['a', 'b'] });
    const seen: unknown[] = [];
    const { channel } = of('a');
    const publish = channel.publish;
    channel.publish = (one) => {
      seen.push(one.attributes['eventsourceid']);
      return publish(one);
    };
    assert.deepEqual(await publisher.publish(event('1')), { kind: 'accepted' });
    assert.deepEqual([of('a').published, of('b').published, seen], [['1'], ['1'], ['app']]);
  });

  const sequences: readonly [what: string, retry: Retry | null, at: number[]][] = [
    ['once, without a rule', null, [0]],
    ['as often as the rule says, with waits that grow by the delay', linear(3), [0, 1_000, 3_000, 6_000]],
    ['with waits that double', exponential(3), [0, 1_000, 3_000, 7_000]],
  ];
  for (const [what, retry, at] of sequences)
    it(`tries a channel that is down ${what}`, async () => {
      const { clock, main, publisher } = setUp({ retry });
      main.fails(down);
      const result = publisher.publish(event('1'));
      await clock.advance(20_000);
      assert.deepEqual(await result, rejected('unavailable'));
      assert.deepEqual(
        main.attempts.map((one) => one.at),
        at,
      );
    });

  it('then keeps the event in its storage, and every later one behind it', async () => {
    const { clock, main, publisher } = setUp({ retry: linear(1), storage: memory });
    main.fails(down);
    const first = publisher.publish(event('1'));
    await clock.advance(1_000);
    assert.deepEqual(await first, { kind: 'spooled' });
    assert.deepEqual(await publisher.publish(event('2')), { kind: 'spooled' });
    main.fails(() => null);
    const third = publisher.publish(event('3'));
    await clock.advance(3_000);
    assert.deepEqual(await third, { kind: 'spooled' });
    assert.deepEqual(main.published, ['1', '2', '3']);
    assert.deepEqual(await publisher.publish(event('4')), { kind: 'accepted' });
    assert.deepEqual(main.published, ['1', '2', '3', '4']);
  });

  it('does not try every event on a channel that is down, but one after each pause', async () => {
    const { clock, main, publisher } = setUp({});
    const problem: { text: string | null } = { text: 'no connection' };
    main.channel.problem = () => problem.text;
    main.fails(down);
    for (let id = 0; id < 1_000; id += 1) {
      assert.deepEqual(await publisher.publish(event(String(id))), rejected('unavailable'));
      await clock.advance(10);
    }
    const times = main.attempts.map(({ at }) => at);
    assert.deepEqual(times.slice(0, 4), [0, 30, 80, 180], 'the pause doubles');
    assert.ok(times.length <= 11, `${times.length} events of 1,000 were tried`);
    const [status] = publisher.status().channels;
    assert.deepEqual([status?.failed, status?.lastError], [1_000, 'down']);
    problem.text = null;
    main.fails(() => null);
    assert.deepEqual(await publisher.publish(event('back')), { kind: 'accepted' }, 'at once');
  });

  it('probes a full channel with one event while others wait for it', async () => {
    for (const full of [false, true]) {
      const { clock, main, publisher } = setUp({});
      main.channel.problem = () => (full ? null : 'no connection');
      main.fails(() => (full ? new ChannelFull('full') : down()));
      await publisher.publish(event('1'));
      await clock.advance(100);
      const trial = Promise.withResolvers<void>();
      main.fails(() => null);
      const { publish } = main.channel;
      main.channel.publish = (one) => trial.promise.then(() => publish(one));
      const tried = publisher.publish(event('2'));
      const others = ['3', '4'].map((id) => publisher.publish(event(id)));
      await settled();
      trial.resolve();
      assert.deepEqual(await tried, { kind: 'accepted' });
      const expected = full ? { kind: 'accepted' } : rejected('unavailable');
      assert.deepEqual(await Promise.all(others), [expected, expected]);
    }
  });

  it('keeps publishing when the channel refuses single events', async () => {
    const { main, publisher } = setUp({});
    main.fails((id) => (id.startsWith('large') ? new Error('too large for the server') : null));
    for (const id of ['large-1', '2', 'large-3', 'large-4', '5'])
      assert.equal(
        (await publisher.publish(event(id))).kind,
        id.startsWith('large') ? 'rejected' : 'accepted',
      );
    assert.deepEqual(main.published, ['2', '5']);
  });

  it('says that a channel is full, and that an event is too large', async () => {
    const { main, publisher } = setUp({});
    main.fails(() => new ChannelFull('full'));
    assert.deepEqual(await publisher.publish(event('1')), rejected('full'));
    assert.deepEqual(await publisher.publish(event('2', 1_048_577)), rejected('too_large', null));
  });

  it('gives up a channel that does not answer', async () => {
    const { clock, main, publisher } = setUp({});
    main.fails(() => 'hang');
    const result = publisher.publish(event('1'));
    await clock.advance(60_000);
    assert.deepEqual(await result, rejected('unavailable'));
    assert.equal(publisher.status().channels[0]?.lastError, 'The channel did not answer within 10 seconds');
  });

  const refusals: readonly [RefusedCall['by'], string][] = [
    ['rate-limit', 'rate_limited'],
    ['circuit-breaker', 'circuit_open'],
    ['concurrency-limit', 'too_many_at_once'],
  ];
  for (const [by, reason] of refusals)
    it(`refuses at once what the ${by} refuses, storage or not, and publishes it nowhere`, async () => {
      let cancelled = 0;
      const permit: Admission = {
        ...admitted,
        cancel() {
          cancelled += 1;
        },
      };
      const { of, publisher } = setUp({
        channels: ['a', 'b'],
        storage: memory,
        admit: (id) => (id === 'b' ? { kind: 'refused', by, retryAfterMs: 250 } : permit),
      });
      assert.deepEqual(await publisher.publish(event('1')), rejected(reason, 250));
      assert.deepEqual([of('a').attempts, of('b').attempts, cancelled], [[], [], 1]);
      assert.deepEqual(publisher.status().rejected, { [reason]: 1 });
    });

  it('reports the outcome of each attempt to its limits, and does not count a refusal as an attempt', async () => {
    const outcomes: string[] = [];
    const permit: Admission = {
      ...admitted,
      done: (outcome, ms) => void outcomes.push(`${outcome} ${ms}`),
    };
    const answers: Admission[] = [permit, { kind: 'refused', by: 'circuit-breaker', retryAfterMs: 9 }];
    const { clock, main, publisher } = setUp({ retry: linear(9), admit: () => answers.shift() ?? permit });
    main.fails(down);
    const result = publisher.publish(event('1'));
    await clock.advance(60_000);
    assert.deepEqual(await result, rejected('circuit_open', 9));
    assert.deepEqual(outcomes, ['error 0']);
    assert.equal(main.attempts.length, 1);
  });

  it('accepts events that no router selects, and counts them', async () => {
    const { publisher } = setUp({ channels: [] });
    assert.deepEqual(await publisher.publish(event('1')), { kind: 'accepted' });
    assert.deepEqual([publisher.status().accepted, publisher.status().unrouted], [1, 1]);
  });
});

describe('an asynchronous source', () => {
  const asynchronous = { asyncSend: true, storage: memory };

  it('has accepted an event when its storage has it, and sends it in order when the channel is back', async () => {
    const { clock, main, publisher } = setUp(asynchronous);
    main.fails(down);
    for (const id of ['1', '2', '3', '4', '5'])
      assert.deepEqual(await publisher.publish(event(id)), { kind: 'accepted' });
    await clock.advance(60_000);
    assert.deepEqual(main.published, []);
    assert.ok(publisher.status().storage?.events === 5);
    main.fails(() => null);
    await clock.advance(3_000);
    assert.deepEqual(main.published, ['1', '2', '3', '4', '5']);
    assert.equal(publisher.status().storage?.events, 0);
  });

  it('does not hold up one channel because of another', async () => {
    const { clock, of, publisher } = setUp({ ...asynchronous, channels: ['a', 'b'] });
    of('a').fails(down);
    for (const id of ['1', '2']) await publisher.publish(event(id));
    await clock.advance(10_000);
    assert.deepEqual([of('a').published, of('b').published], [[], ['1', '2']]);
    assert.deepEqual(
      publisher.status().channels.map(({ waiting }) => waiting),
      [2, 0],
    );
    of('a').fails(() => null);
    await clock.advance(3_000);
    assert.deepEqual(of('a').published, ['1', '2']);
    assert.deepEqual(of('b').published, ['1', '2'], 'and no event comes twice');
  });

  it('sends an event that failed after the others, and loses none', async () => {
    const { clock, main, publisher } = setUp(asynchronous);
    main.fails((id) => (id === '2' ? down() : null));
    await Promise.all(['1', '2', '3'].map((id) => publisher.publish(event(id))));
    await settled();
    main.fails(() => null);
    await publisher.publish(event('4'));
    await clock.advance(3_000);
    assert.deepEqual(new Set(main.published), new Set(['1', '2', '3', '4']));
    assert.equal(main.published.length, 4);
    assert.ok(main.published.indexOf('2') < main.published.indexOf('4'));
  });

  it('is paced by its limits, and refuses nothing', async () => {
    let left = 2;
    const { clock, main, publisher } = setUp({
      ...asynchronous,
      admit: () => {
        left -= 1;
        return left >= 0 ? admitted : { kind: 'refused', by: 'rate-limit', retryAfterMs: 500 };
      },
    });
    for (const id of ['1', '2', '3']) assert.equal((await publisher.publish(event(id))).kind, 'accepted');
    await clock.advance(499);
    assert.deepEqual(main.published, ['1', '2']);
    left = 1;
    await clock.advance(1);
    assert.deepEqual(main.published, ['1', '2', '3']);
  });

  it('sends the next event at once when one of its own slots is free again', async () => {
    let inFlight = 0;
    const { clock, main, publisher } = setUp({
      ...asynchronous,
      admit() {
        if (inFlight > 0) return { kind: 'refused', by: 'concurrency-limit', retryAfterMs: 60_000 };
        inFlight += 1;
        const leave = () => {
          inFlight -= 1;
        };
        return { kind: 'admitted', done: leave, cancel: leave };
      },
    });
    for (const id of ['1', '2', '3', '4', '5']) await publisher.publish(event(id));
    await clock.advance(1);
    assert.deepEqual(main.published, ['1', '2', '3', '4', '5']);
  });

  it('waits for room, or drops, as its storage says; never what it accepted', async () => {
    const waiting = setUp({ asyncSend: true, storage: { ...memory, bytes: 2_000 } });
    waiting.main.fails(down);
    assert.equal((await waiting.publisher.publish(event('1', 1_500))).kind, 'accepted');
    assert.deepEqual(await waiting.publisher.publish(event('2', 1_500), 1), rejected('full'));
    const third = waiting.publisher.publish(event('3', 1_500));
    waiting.main.fails(() => null);
    await waiting.clock.advance(3_000);
    assert.equal((await third).kind, 'accepted');
    await waiting.clock.advance(3_000);
    assert.deepEqual(waiting.main.published, ['1', '3']);

    const dropping = setUp({ asyncSend: true, storage: { ...memory, bytes: 2_000, whenFull: 'drop' } });
    dropping.main.fails(down);
    const kinds: string[] = [];
    for (const id of ['1', '2', '3']) kinds.push((await dropping.publisher.publish(event(id, 1_500))).kind);
    assert.deepEqual(kinds, ['accepted', 'dropped', 'dropped']);
    assert.equal(dropping.publisher.status().dropped, 2);
    dropping.main.fails(() => null);
    await dropping.clock.advance(3_000);
    assert.deepEqual(dropping.main.published, ['1']);
  });

  it('sends what waits in memory when it closes, and drops what no channel accepts', async () => {
    const { main, publisher } = setUp(asynchronous);
    for (const id of ['1', '2', '3']) void publisher.publish(event(id));
    await publisher.close(5_000);
    assert.deepEqual(main.published, ['1', '2', '3']);
    assert.deepEqual(await publisher.publish(event('4')), rejected('unavailable'));
    const broken = setUp(asynchronous);
    broken.main.fails(down);
    await broken.publisher.publish(event('1'));
    const closing = broken.publisher.close(5_000);
    await broken.clock.advance(5_000);
    await closing;
  });

  it('continues with new settings: waiting events go to the current channel', async () => {
    const { clock, main, publisher, source } = setUp(asynchronous);
    main.fails(down);
    for (const id of ['1', '2']) await publisher.publish(event(id));
    await clock.advance(1_000);
    const next = scriptedChannel(clock.now);
    publisher.update({ source, takes: () => true, channels: new Map([['main', next.channel]]) });
    await publisher.publish(event('3'));
    await clock.advance(3_000);
    assert.deepEqual([main.published, next.published], [[], ['1', '2', '3']]);
  });

  it('still sends waiting events to a channel that it no longer feeds, and only once if that comes back', async () => {
    const { clock, main, publisher, source } = setUp(asynchronous);
    main.fails(down);
    for (const id of ['1', '2']) await publisher.publish(event(id));
    publisher.update({ source, takes: () => true, channels: new Map() });
    assert.equal((await publisher.publish(event('3'))).kind, 'accepted');
    await clock.advance(1_000);
    publisher.update({ source, takes: () => true, channels: new Map([['main', main.channel]]) });
    await publisher.publish(event('4'));
    main.fails(() => null);
    await clock.advance(6_000);
    assert.deepEqual(main.published, ['1', '2', '4']);
  });

  it('ends with its last waiting event when it is retired', async () => {
    const { clock, main, publisher } = setUp(asynchronous);
    main.fails(down);
    for (const id of ['1', '2']) await publisher.publish(event(id));
    let ended = false;
    const retired = publisher.retire().then(() => {
      ended = true;
    });
    await clock.advance(60_000);
    assert.equal(ended, false);
    main.fails(() => null);
    await clock.advance(3_000);
    await retired;
    assert.deepEqual(main.published, ['1', '2']);
  });
});
