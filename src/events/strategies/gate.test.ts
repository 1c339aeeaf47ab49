import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../../../test/support/machine/fake-clock.ts';
import type { RuntimeStrategy, Trigger } from '../config/config.ts';
import { type Admission, type AdmittedCall, admitToBoth } from './gate.ts';
import { createGates } from './gates.ts';

const none: RuntimeStrategy = {
  retry: null,
  rateLimit: null,
  circuitBreaker: null,
  concurrency: null,
  faultTolerance: null,
};
const rate = (threshold: number): RuntimeStrategy['rateLimit'] => ({
  name: '',
  scope: 'local',
  threshold,
  periodMs: 1_000,
});
const atOnce = (max: number): RuntimeStrategy['concurrency'] => ({ name: '', scope: 'local', max });
const breaker: RuntimeStrategy['circuitBreaker'] = {
  name: '',
  trips: { on: 'errors' },
  ratio: 1,
  windowMs: 1_000,
  recoveryMs: 5_000,
  minRequests: 1,
};
const trigger = (id: string, runtime: Partial<RuntimeStrategy>): Trigger => ({
  id,
  processor: { kind: 'log', name: '' },
  bufferSize: 256,
  idempotent: false,
  runtime: { ...none, ...runtime },
  deadLetters: null,
});
const configOf = (...triggers: Trigger[]) => ({
  sources: new Map(),
  triggers: new Map(triggers.map((one) => [one.id, one])),
});

function setUp(runtime: Partial<RuntimeStrategy>) {
  const clock = createFakeClock();
  const gates = createGates({ clock, global: null, onBreaker() {} });
  gates.apply(configOf(trigger('t', runtime)));
  const gate = gates.of('trigger:t');
  const admit = (): Admission => {
    const admission = gate.admit();
    assert.ok(!(admission instanceof Promise));
    return admission;
  };
  const admitted = (): AdmittedCall => {
    const admission = admit();
    assert.ok(admission.kind === 'admitted', JSON.stringify(admission));
    return admission;
  };
  const { signal } = new AbortController();
  /** Names of those who waited, in the order in which they came in. */
  const entered: string[] = [];
  const enter = async (name: string, ends: AbortSignal = signal) => {
    const admission = await gate.wait(ends);
    entered.push(admission === null ? `${name} left` : name);
    return admission;
  };
  return { clock, gates, gate, admit, admitted, enter, entered };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('a gate', () => {
  it('lets everything pass where there is no limit', () => {
    setUp({}).admitted();
  });

  it('says which limit refused, and when to come again', () => {
    const limited = setUp({ rateLimit: rate(1), concurrency: atOnce(1) });
    limited.admitted();
    assert.deepEqual(limited.admit(), { kind: 'refused', by: 'rate-limit', retryAfterMs: 1_000 });
    limited.clock.pass(1_000);
    assert.equal((limited.admit() as { by?: string }).by, 'concurrency-limit');
  });

  it('does not count a call that an inner limit refused', () => {
    const { admit, admitted, gate } = setUp({ rateLimit: rate(2), concurrency: atOnce(1) });
    const first = admitted();
    for (let call = 0; call < 5; call += 1) assert.equal(admit().kind, 'refused');
    first.done('ok', 1);
    admitted();
    const [limit] = gate.status().limits;
    assert.equal(limit?.kind === 'rate-limit' && limit.inPeriod, 2);
  });

  it('keeps a half-open breaker ready when an inner limit refuses its probe', () => {
    const { admit, admitted, clock } = setUp({ circuitBreaker: breaker, concurrency: atOnce(2) });
    const slow = [admitted(), admitted()];
    slow.pop()?.done('error', 1);
    const other = { concurrency: admit() };
    assert.equal((other.concurrency as { by?: string }).by, 'circuit-breaker');
    clock.pass(5_000);
    admitted().done('ok', 1);
    admitted();
    assert.equal((admit() as { by?: string }).by, 'concurrency-limit');
  });

  it('lets those who wait in first come, first served', async () => {
    const { admitted, enter, entered } = setUp({ concurrency: atOnce(1) });
    const first = admitted();
    const waits = ['a', 'b', 'c'].map((name) => enter(name));
    await turn();
    assert.deepEqual(entered, []);
    first.done('ok', 1);
    for (const wait of waits) (await wait)?.done('ok', 1);
    assert.deepEqual(entered, ['a', 'b', 'c']);
  });

  it('paces those who wait by the rate', async () => {
    const { clock, enter, entered } = setUp({ rateLimit: rate(1) });
    const waits = ['a', 'b', 'c'].map((name) => enter(name));
    await turn();
    assert.deepEqual(entered, ['a']);
    clock.pass(1_000);
    await turn();
    assert.deepEqual(entered, ['a', 'b']);
    clock.pass(1_000);
    await Promise.all(waits);
  });

  it('lets nobody pass at a limit of 0, and names the limit that blocks', async () => {
    for (const [runtime, by] of [
      [{ rateLimit: rate(0) }, 'rate-limit'],
      [{ concurrency: atOnce(0) }, 'concurrency-limit'],
    ] as const) {
      const { clock, enter, entered, gate } = setUp(runtime);
      const ends = new AbortController();
      const wait = enter('a', ends.signal);
      clock.pass(100_000);
      await turn();
      assert.deepEqual(entered, []);
      assert.deepEqual([gate.status().waiting, gate.status().blockedBy], [1, by]);
      ends.abort();
      await wait;
      assert.deepEqual(entered, ['a left']);
      assert.deepEqual([gate.status().waiting, gate.status().blockedBy], [0, null]);
    }
  });

  it('goes on with the next when somebody stops waiting', async () => {
    const { admitted, enter, entered } = setUp({ concurrency: atOnce(1) });
    const first = admitted();
    const ends = new AbortController();
    const [a, b] = [enter('a', ends.signal), enter('b')];
    ends.abort();
    first.done('ok', 1);
    await Promise.all([a, b]);
    assert.deepEqual(entered, ['a left', 'b']);
  });

  it('keeps its counts when another part of the configuration changes, and admits waiting calls when it is relaxed', async () => {
    const { admit, admitted, enter, entered, gates } = setUp({ rateLimit: rate(1) });
    admitted();
    gates.apply(configOf(trigger('t', { rateLimit: rate(1) }), trigger('other', {})));
    assert.equal(admit().kind, 'refused');
    const wait = enter('a');
    gates.apply(configOf(trigger('t', {})));
    await wait;
    assert.deepEqual(entered, ['a']);
  });

  it('applies the strategies of a rule to each of its targets separately, and not to their owner', () => {
    const { gates } = setUp({});
    const faultTolerance = {
      targets: ['trigger:a*', 'source:s'],
      strategies: ['rate-limit'],
      action: null,
    } as const;
    gates.apply(
      configOf(
        trigger('owner', { rateLimit: rate(1), concurrency: atOnce(9), faultTolerance }),
        trigger('a1', { rateLimit: rate(2) }),
        trigger('a2', {}),
      ),
    );
    const limits = (resource: string) =>
      gates
        .of(resource)
        .status()
        .limits.map((limit) => (limit.kind === 'rate-limit' ? limit.threshold : limit.kind));
    assert.deepEqual(limits('trigger:owner'), ['concurrency-limit']);
    assert.deepEqual(limits('trigger:a1'), [1, 2]);
    assert.deepEqual(limits('trigger:a2'), [1]);
    assert.deepEqual(limits('source:s'), [1]);
    assert.deepEqual(limits('channel:a'), []);
    const pass = (resource: string) => (gates.of(resource).admit() as Admission).kind;
    assert.deepEqual([pass('trigger:a1'), pass('trigger:a1')], ['admitted', 'refused']);
    assert.equal(pass('trigger:a2'), 'admitted');
  });

  it('counts each part of a resource by itself', () => {
    const gates = createGates({ clock: createFakeClock(), global: null, onBreaker() {} });
    gates.apply(configOf(trigger('t', { rateLimit: rate(1) })));
    const pass = (part: string) => (gates.of('trigger:t', part).admit() as Admission).kind;
    assert.deepEqual([pass('a'), pass('a'), pass('b')], ['admitted', 'refused', 'admitted']);
  });

  it('is passed together with another gate, or not at all', async () => {
    const clock = createFakeClock();
    const gates = createGates({ clock, global: null, onBreaker() {} });
    gates.apply(
      configOf(
        trigger('outer', { concurrency: atOnce(2), rateLimit: rate(9) }),
        trigger('inner', { concurrency: atOnce(1) }),
      ),
    );
    const [outer, inner] = [gates.of('trigger:outer'), gates.of('trigger:inner')];
    const first = await admitToBoth(outer, inner);
    const second = await admitToBoth(outer, inner);
    assert.deepEqual([first.kind, second.kind], ['admitted', 'refused']);
    const inFlight = () =>
      [outer, inner].map((gate) =>
        gate.status().limits.flatMap((limit) => ('inFlight' in limit ? limit.inFlight : [])),
      );
    assert.deepEqual(inFlight(), [[1], [1]]);
    assert.ok(first.kind === 'admitted');
    first.done('ok', 1);
    assert.deepEqual(inFlight(), [[0], [0]]);
    const third = await admitToBoth(outer, inner);
    assert.ok(third.kind === 'admitted');
    third.cancel();
    assert.deepEqual(inFlight(), [[0], [0]]);
  });
});
