import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Cluster, cluster } from '../../../test/support/gateway/cluster.ts';
import { fc } from '../../../test/support/machine/properties.ts';

/** One thing that happens to two gateways, their Redis, or the network between them. */
type Step =
  | { kind: 'ask'; gateway: number; amount: number }
  | { kind: 'settle'; which: number; share: number }
  | { kind: 'leave'; which: number }
  | { kind: 'wait'; ms: number }
  | { kind: 'carry'; gateway: number }
  | { kind: 'answer'; gateway: number }
  | { kind: 'cut'; gateway: number }
  | { kind: 'connect'; gateway: number }
  | { kind: 'ghost'; which: number }
  | { kind: 'calm' }
  | { kind: 'kill'; gateway: number }
  | { kind: 'stop'; gateway: number }
  | { kind: 'start'; gateway: number }
  | { kind: 'flush' }
  | { kind: 'evict' };

const gateway = fc.nat(2);
const of = <K extends Step['kind']>(kind: K) => fc.record({ kind: fc.constant(kind), gateway });
const alone = <K extends Step['kind']>(kind: K) => fc.record({ kind: fc.constant(kind) });
const step = (longest: readonly number[]): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 10,
      arbitrary: fc.record({
        kind: fc.constant('ask' as const),
        gateway,
        amount: fc.constantFrom(1, 1, 2, 5, 20, 60),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('settle' as const),
        which: fc.nat(5),
        share: fc.constantFrom(0, 0.1, 0.5, 1),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('leave' as const), which: fc.nat(5) }) },
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(...longest) }),
    },
    { weight: 6, arbitrary: of('carry') },
    { weight: 6, arbitrary: of('answer') },
    { weight: 8, arbitrary: alone('calm') },
    { weight: 1, arbitrary: of('cut') },
    { weight: 1, arbitrary: of('connect') },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('ghost' as const), which: fc.nat(5) }) },
    { weight: 1, arbitrary: of('kill') },
    { weight: 1, arbitrary: of('stop') },
    { weight: 2, arbitrary: of('start') },
    { weight: 1, arbitrary: alone('flush') },
    { weight: 1, arbitrary: alone('evict') },
  );

async function run(world: Cluster, one: Step): Promise<void> {
  switch (one.kind) {
    case 'ask':
      return world.ask(one.gateway, one.amount);
    case 'settle':
      return world.settle(one.which, one.share);
    case 'leave':
      return world.settle(one.which, null);
    case 'wait':
      return world.wait(one.ms);
    case 'calm':
      return world.calm();
    case 'flush':
    case 'evict':
      return world.lose(one.kind);
    case 'ghost':
      return world.carryLate(one.which);
    default:
      return world[one.kind](one.gateway);
  }
}

describe('budgets of three gateways', () => {
  for (const [period, waits] of [
    ['day', [1, 100, 300, 1_000, 3_000, 40_000]],
    ['minute', [1, 100, 300, 1_000, 3_000, 20_000, 70_000]],
  ] as const) {
    it(`per ${period}: no schedule of delays, lost answers, deaths, starts and losses of Redis spends more than the limit`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step(waits), { minLength: 20, maxLength: 90 }), async (steps) => {
          const world = await cluster({ period, metric: 'tokens', limit: 100 });
          for (const one of steps) {
            await run(world, one);
            const used = world.used();
            assert.ok(used <= 100, `${used} of 100 are used after ${JSON.stringify(one)}`);
          }
        }),
        { numRuns: 200 },
      );
    });
  }

  it('leave nothing of the limit unused when the network is well', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ gateway, amount: fc.integer({ min: 1, max: 9 }) }), {
          minLength: 1,
          maxLength: 80,
        }),
        async (requests) => {
          const world = await cluster({ period: 'day', metric: 'tokens', limit: 100 });
          let fitting = 0;
          for (const { amount, gateway: at } of requests) {
            if (fitting + amount > 100) continue;
            fitting += amount;
            await world.ask(at, amount);
            await world.calm();
            // What others hold in reserve comes back within a second or so.
            for (let tries = 0; tries < 4 && world.used() < fitting; tries += 1) await world.wait(1_000);
            assert.equal(world.used(), fitting);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('count anew for all when one of them is reset', async () => {
    const world = await cluster({ period: 'day', metric: 'requests', limit: 10 });
    const askAll = async () => {
      for (let index = 0; index < 12; index += 1) {
        await world.ask(index % 3, 1);
        await world.calm();
        await world.settle(0, 1);
        await world.wait(1_000);
      }
    };
    await askAll();
    assert.deepEqual([world.used(), world.refusals('full')], [10, 2]);
    await world.reset(0);
    await world.wait(1_000);
    await askAll();
    assert.deepEqual([world.used(), world.refusals('full')], [20, 4]);
    await world.kill(0);
    await world.start(0);
    await world.wait(1_000);
    await world.ask(0, 1);
    await world.calm();
    assert.equal(world.refusals('full'), 5, 'what was used before the reset is not counted again');
  });

  it('asks nobody for most requests', async () => {
    const world = await cluster({ period: 'day', metric: 'requests', limit: 1_000_000 });
    for (let second = 0; second < 5; second += 1) {
      for (let index = 0; index < 100; index += 1) {
        await world.ask(0, 1);
        await world.settle(0, 1);
        await world.wait(10);
        await world.calm();
      }
    }
    assert.equal(world.used(), 500);
    assert.ok(world.exchanges() < 60, `${world.exchanges()} questions for 500 requests`);
  });

  it('continue with what they were granted while Redis is away, and then refuse', async () => {
    const world = await cluster({ period: 'day', metric: 'requests', limit: 1_000 });
    for (let index = 0; index < 50; index += 1) {
      await world.ask(0, 1);
      await world.calm();
    }
    await world.cut(0);
    const before = world.used();
    for (let index = 0; index < 200; index += 1) await world.ask(0, 1);
    const granted = world.used() - before;
    assert.ok(granted > 0 && granted < 200, `${granted} went on`);
    assert.equal(world.refusals('unavailable'), 200 - granted);
    await world.connect(0);
    await world.wait(600);
    await world.calm();
    await world.ask(0, 1);
    await world.calm();
    assert.equal(world.used(), before + granted + 1);
  });

  it('continue with local counts where that is configured, and report them afterwards', async () => {
    const world = await cluster({ period: 'day', metric: 'requests', limit: 50, failureMode: 'local' });
    for (let index = 0; index < 20; index += 1) {
      await world.ask(1, 1);
      await world.calm();
    }
    await world.wait(1_000);
    await world.ask(0, 1);
    await world.calm();
    await world.cut(0);
    for (let index = 0; index < 100; index += 1) await world.ask(0, 1);
    assert.equal(world.used(), 50, 'its own and those of the others that it has heard of');
    await world.connect(0);
    await world.wait(600);
    await world.calm();
    await world.ask(1, 1);
    await world.calm();
    assert.equal(world.used(), 50);
  });
});

describe('a limit on open requests', () => {
  it('is free again for others a while after its gateway has died', async () => {
    const world = await cluster({ period: null, metric: 'concurrency', limit: 2 });
    for (const at of [0, 0, 1]) {
      await world.ask(at, 1);
      await world.calm();
      await world.wait(3_000);
    }
    assert.deepEqual([world.used(), world.refusals('full')], [2, 1]);
    await world.kill(0);
    await world.ask(1, 1);
    await world.calm();
    await world.wait(3_000);
    assert.equal(world.refusals('full'), 2, 'nobody knows yet that it is gone');
    await world.wait(40_000);
    await world.ask(1, 1);
    await world.calm();
    assert.equal(world.refusals('full'), 2);
  });

  it('holds for long answers of a gateway that sends nothing else', async () => {
    const world = await cluster({ period: null, metric: 'concurrency', limit: 1 });
    await world.ask(0, 1);
    await world.calm();
    for (let minute = 0; minute < 3; minute += 1) await world.wait(60_000);
    await world.ask(1, 1);
    await world.calm();
    await world.wait(3_000);
    assert.deepEqual([world.used(), world.refusals('full')], [1, 1]);
  });
});
