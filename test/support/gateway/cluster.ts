import assert from 'node:assert/strict';
import { createLimits, type Limits } from '../../../src/budgets/limits.ts';
import type { Refusal } from '../../../src/budgets/refusal.ts';
import type { BudgetReservation } from '../../../src/budgets/reservation.ts';
import type { BudgetRecord } from '../../../src/budgets/schema.ts';
import type {
  TallyExchange,
  TallyExchangeReply,
  TallyExchangeRequest,
} from '../../../src/budgets/shared/exchange.ts';
import type { RememberedTally } from '../../../src/budgets/shared/lease-store.ts';
import { createSharedBudgets } from '../../../src/budgets/shared/shared-budgets.ts';
import { createShared, type SharedLimits } from '../../../src/budgets/shared/shared-limits.ts';
import { windowOf } from '../../../src/budgets/window.ts';

const START = Date.UTC(2026, 10, 21, 10, 30);
const TICK_MS = 250;
const GATEWAYS = 3;

interface Message {
  request: TallyExchangeRequest;
  /** Null until Redis has read it. */
  reply: TallyExchangeReply | null;
  resolve(reply: TallyExchangeReply): void;
  reject(error: Error): void;
}

interface Timer {
  at: number;
  run(): void;
}

interface Process {
  limits: Limits;
  shared: SharedLimits;
  timers: Set<Timer>;
  messages: Message[];
  /** Of its open requests. */
  reservations: Set<BudgetReservation>;
}

interface Machine {
  /** Null while it is down. */
  process: Process | null;
  connected: boolean;
  /** What outlives the process. */
  disk: Map<string, RememberedTally>;
}

/** One request, as an upstream counts it: whatever its gateway knows of it. */
interface Used {
  at: number;
  amount: number;
  reservation: BudgetReservation | null;
}

export interface ClusterOptions extends Pick<BudgetRecord, 'metric' | 'period' | 'limit'> {
  failureMode?: 'refuse' | 'local';
}

/** Gateways that share one budget through a Redis in memory, with every message, timer and clock in the hands of a test. */
export interface Cluster {
  /** What upstreams have been asked for in the current window, at its estimate until it has ended. */
  used(): number;
  refusals(reason: Refusal['reason']): number;
  exchanges(): number;
  ask(gateway: number, amount: number): Promise<void>;
  /** Ends an open request, which has used a share of its estimate; null: nothing at all. */
  settle(which: number, share: number | null): Promise<void>;
  /** Lets time pass; the messages stay where they are. */
  wait(ms: number): Promise<void>;
  /** Lets Redis read the oldest message of a gateway, or the gateway hear the answer. */
  carry(gateway: number): Promise<void>;
  answer(gateway: number): Promise<void>;
  /** Carries and answers all messages until there are none. */
  calm(): Promise<void>;
  /** Breaks a gateway's connection: what was under way may still arrive, its answers do not. */
  cut(gateway: number): Promise<void>;
  connect(gateway: number): Promise<void>;
  carryLate(which: number): Promise<void>;
  kill(gateway: number): Promise<void>;
  stop(gateway: number): Promise<void>;
  start(gateway: number): Promise<void>;
  /** Lets the owner of a gateway reset the budget. */
  reset(gateway: number): Promise<void>;
  /** Redis forgets everything, or the tallies alone. */
  lose(what: 'flush' | 'evict'): Promise<void>;
}

export async function cluster(options: ClusterOptions): Promise<Cluster> {
  const clock = { now: START };
  const redis = memoryRedis(() => clock.now);
  const machines: Machine[] = Array.from({ length: GATEWAYS }, () => ({
    process: null,
    connected: true,
    disk: new Map(),
  }));
  let names = 0;
  const newId = () => {
    names += 1;
    return `n${names}`;
  };
  const counts = new Map<Refusal['reason'], number>();
  const used: Used[] = [];
  /** Messages of broken connections and dead gateways that are still on their way. */
  const late: Message[] = [];
  const world = { exchanges: 0 };
  const window = windowOf(options.period);
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve));
  const machine = (index: number): Machine => {
    const found = machines[index];
    assert.ok(found);
    return found;
  };
  const drop = ({ messages }: Process) => {
    for (const message of messages.splice(0)) {
      if (message.reply === null) late.push(message);
      message.reject(new Error('the connection is lost'));
    }
  };
  const start = async (at: Machine) => {
    if (at.process !== null) return;
    at.process = await startProcess(at, options, clock, newId);
  };
  const carry = (message: Message | undefined) => {
    if (message === undefined || message.reply !== null) return;
    world.exchanges += 1;
    message.reply = redis.exchange(message.request);
  };
  const calm = async () => {
    await settled();
    for (let left = true, rounds = 0; left; rounds += 1) {
      assert.ok(rounds < 500, 'the gateways do not come to rest');
      left = false;
      for (const { connected, process } of machines) {
        const message = process?.messages[0];
        if (!connected || message === undefined) continue;
        left = true;
        carry(message);
        process?.messages.shift();
        if (message.reply !== null) message.resolve(message.reply);
      }
      await settled();
    }
  };
  const advance = async (ms: number) => {
    clock.now += ms;
    for (const { process } of machines) {
      for (const timer of [...(process?.timers ?? [])]) {
        if (timer.at > clock.now) continue;
        process?.timers.delete(timer);
        timer.run();
      }
      process?.shared.tick();
    }
    await settled();
  };
  for (const each of machines) await start(each);
  const own: Cluster = {
    exchanges: () => world.exchanges,
    refusals: (reason) => counts.get(reason) ?? 0,
    used: () =>
      used
        .filter(({ at }) => window.counts(window.bucketAt(at), clock.now))
        .reduce((sum, { amount }) => sum + amount, 0),
    async ask(index, amount) {
      const reservation = machine(index).process?.limits.reservationFor({ keyId: 'key_1', comboId: null });
      const process = machine(index).process;
      if (reservation === undefined || reservation === null || process === null) return;
      process.reservations.add(reservation);
      const scope = { connectionId: 'con_1', innerCombos: [], tokens: () => amount, usd: () => 0 };
      void Promise.resolve(reservation.reserve(scope)).then((refusal) => {
        if (refusal !== null) counts.set(refusal.reason, (counts.get(refusal.reason) ?? 0) + 1);
        // A gateway that is dead by now sends nothing.
        else if (machine(index).process === process)
          used.push({ at: clock.now, amount: options.metric === 'tokens' ? amount : 1, reservation });
      });
      await settled();
    },
    async settle(which, share) {
      const open = used.filter(({ reservation }) => reservation !== null)[which];
      if (open === undefined) return;
      const tokens = share === null ? 0 : Math.round(open.amount * share);
      open.reservation?.settle(share === null ? null : { tokens, usd: 0 });
      open.reservation = null;
      if (share === null || options.metric === 'concurrency') open.amount = 0;
      else if (options.metric === 'tokens') open.amount = tokens;
      await settled();
    },
    async wait(ms) {
      const unsafe =
        redis.lost() && machines.some(({ connected, process }) => process === null || !connected);
      if (ms >= 1_000 && unsafe) {
        // Nobody waits for ever for a gateway that was there when Redis lost everything, so it comes back.
        for (const each of machines) {
          each.connected = true;
          await start(each);
        }
      }
      const calmly = ms >= 1_000;
      for (let left = ms; left > 0; left -= TICK_MS) {
        await advance(Math.min(left, TICK_MS));
        if (calmly) await calm();
      }
      if (calmly) redis.found();
    },
    async carry(index) {
      if (machine(index).connected) carry(machine(index).process?.messages[0]);
    },
    async answer(index) {
      const { process } = machine(index);
      const message = process?.messages[0];
      if (message === undefined || message.reply === null) return;
      process?.messages.shift();
      message.resolve(message.reply);
      await settled();
    },
    calm,
    async cut(index) {
      machine(index).connected = false;
      const { process } = machine(index);
      if (process !== null) drop(process);
      await settled();
    },
    async connect(index) {
      machine(index).connected = true;
    },
    async carryLate(which) {
      const [message] = late.splice(which, 1);
      carry(message);
    },
    async kill(index) {
      const { process } = machine(index);
      if (process === null) return;
      machine(index).process = null;
      drop(process);
      for (const one of used) {
        if (one.reservation === null || !process.reservations.has(one.reservation)) continue;
        one.reservation = null;
        if (options.metric === 'concurrency') one.amount = 0;
      }
      await settled();
    },
    async stop(index) {
      const { process } = machine(index);
      if (process === null) return;
      // Drained: its requests have ended.
      for (const one of used) {
        if (one.reservation === null || !process.reservations.has(one.reservation)) continue;
        one.reservation.settle({ tokens: one.amount, usd: 0 });
        one.reservation = null;
        if (options.metric === 'concurrency') one.amount = 0;
      }
      const closed = process.shared.close();
      await calm();
      drop(process);
      await closed;
      machine(index).process = null;
      await settled();
    },
    start: (index) => start(machine(index)),
    async reset(index) {
      await machine(index).process?.limits.configure([budgetOf(options, clock.now)]);
    },
    async lose(what) {
      redis.lose(what);
    },
  };
  // The gateways have met.
  await own.wait(3_000);
  return own;
}

async function startProcess(
  machine: Machine,
  { failureMode = 'refuse', ...options }: ClusterOptions,
  clock: { now: number },
  newId: () => string,
): Promise<Process> {
  const timers = new Set<Timer>();
  const messages: Message[] = [];
  const exchange: TallyExchange = (request) =>
    new Promise((resolve, reject) => messages.push({ request, reply: null, resolve, reject }));
  const now = () => clock.now;
  const shared = createShared({
    exchange,
    failureMode,
    newId,
    now,
    timeoutMs: 2_000,
    ready: () => machine.connected,
    former: machine.disk.get('gateways')?.own ?? [],
    after(ms, run) {
      const timer = { at: clock.now + ms, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    save: ({ former, key, me, tally }) => machine.disk.set(key, { tally, own: [me, ...former] }),
    onOutage(_, error) {
      // Only what the world has done may fail.
      if (error !== null) assert.match(String(error), /the connection is lost/);
    },
  });
  const leases = {
    load: async (key: string) => machine.disk.get(key) ?? null,
    forget: async (key: string) => void machine.disk.delete(key),
  };
  const limits = createLimits({
    now,
    used: async () => [],
    nameOf: () => null,
    notify() {},
    shared: createSharedBudgets({ limits: shared, leases, newId, now, onError: assert.ifError }),
  });
  await limits.configure([budgetOf(options, null)]);
  return { limits, shared, timers, messages, reservations: new Set() };
}

function budgetOf({ limit, metric, period }: ClusterOptions, resetAt: number | null): BudgetRecord {
  return {
    id: 'bud_1',
    scope: 'global',
    subject: null,
    softPercent: null,
    unpriced: 'allow',
    createdAt: START,
    updatedAt: START,
    limit,
    metric,
    period,
    resetAt,
  };
}

/** What the script does, in memory. */
function memoryRedis(now: () => number) {
  const state = { epoch: null as { id: string; at: number } | null, lost: false };
  const tallies = new Map<string, { version: string; tally: string }>();
  return {
    lost: () => state.lost,
    found() {
      state.lost = false;
    },
    lose(what: 'flush' | 'evict') {
      tallies.clear();
      if (what === 'flush') state.epoch = null;
      state.lost = true;
    },
    exchange({ epoch, newEpoch, proposals, renew }: TallyExchangeRequest): TallyExchangeReply {
      if (state.epoch === null || (renew && state.epoch.id === epoch))
        state.epoch = { id: newEpoch, at: now() };
      const { at, id } = state.epoch;
      const conflicts = proposals.map(({ key, tally, version, wasVersion }) => {
        const there = tallies.get(key);
        if (epoch !== id || (there?.version ?? null) !== wasVersion)
          return { version: there?.version ?? null, tally: there?.tally ?? '' };
        tallies.set(key, { version, tally });
        return null;
      });
      return { now: now(), epoch: id, epochAgeMs: now() - at, conflicts };
    },
  };
}
