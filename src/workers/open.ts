import type { Limits } from '../budgets/limits.ts';
import type { BudgetReservation, Used } from '../budgets/reservation.ts';
import type { CacheRow } from '../cache/schema.ts';
import type { Routing } from '../combos/routing.ts';
import type { AccessTokens } from '../connections/credentials/access-tokens.ts';
import type { OpenConnection } from '../connections/schema.ts';
import type { StoredHealthState } from '../health/account.ts';
import type { Accounts } from '../health/accounts.ts';
import { GatewayError } from '../lib/error.ts';
import { describe, type LineLog, type Log } from '../lib/log.ts';
import type { RunningCall } from '../proxy/request/open-call.ts';
import type { ResponsePlaces } from '../responses/places.ts';
import type { ResponseMemory } from '../responses/stored.ts';
import type { HttpSurface } from '../telemetry/metrics/http-metrics.ts';
import type { Answers } from './channel.ts';
import type {
  FinishedRequest,
  JoinedState,
  OwnerEvent,
  OwnerQuestions,
  WorkerEvent,
  WorkerLoad,
  WorkerQuestions,
  WorkerStart,
} from './message.ts';
import { startWorker, type WorkerProcess } from './process.ts';

export interface WorkersInput {
  count: number;
  /** What a worker is given, beside its number and the port. */
  start: Omit<WorkerStart, 'number' | 'count' | 'port' | 'journal'>;
  log: Log;
  /** The log of requests; null where they are not logged. */
  accessLog: LineLog | null;
  /** Milliseconds since the epoch. */
  now(): number;
  limits: Pick<Limits, 'hold'>;
  accounts: Pick<Accounts, 'kept' | 'take' | 'takeLimits'>;
  routing: Pick<Routing, 'takeSession'>;
  responses: Pick<ResponseMemory, 'get' | 'put'>;
  places: Pick<ResponsePlaces, 'find' | 'note'>;
  tokens: Pick<AccessTokens, 'fresh' | 'newest'>;
  /** The connection of an id; null where there is none in use. */
  connection(id: string): OpenConnection | null;
  agentModels(): Promise<readonly string[]>;
  hosts: ReadonlySet<string>;
  serving(): boolean;
  /** Records a request that is over. */
  finished(request: FinishedRequest): void;
  ledger: {
    /** Resolves once the database has all that was recorded until now. */
    written(): Promise<void>;
    journals: {
      nextName(): string;
      /** Records what is in the journal of a worker that has ended. */
      recover(name: string): Promise<void>;
    };
  };
  countHttp(surface: HttpSurface, method: string | undefined, status: number | null): void;
  /** Told of each change of a worker's state. */
  changed(): void;
}

/** A worker as it is shown. Times in milliseconds since the epoch. */
export interface WorkerState {
  number: number;
  pid: number | null;
  state: 'starting' | 'serving' | 'ended';
  since: number;
}

/** The workers of a gateway, for the process that owns the data directory. */
export interface Workers {
  /** Starts all of them. @throws the system's error when they cannot listen */
  listen(port: number): Promise<void>;
  states(): readonly WorkerState[];
  /** How often a worker was started again after it had ended by itself, and when that last was. */
  restarts(): { count: number; lastAt: number | null };
  /** How busy they all are together. */
  load(): WorkerLoad;
  /** Has all of them read the settings anew; each that did not within half a minute is ended, and started again. */
  reload(): Promise<void>;
  /**
   * Resolves once everything that they have told until now has arrived, or after a second: who asks how the gateway is
   * must not wait for a worker that is stuck.
   */
  flush(): Promise<void>;
  tell(event: OwnerEvent): void;
  /** Tells all workers of a health state but the one that it came from. */
  tellHealthState(changed: StoredHealthState): void;
  running(): Promise<RunningCall[]>;
  cacheStats(): Promise<CacheRow[]>;
  clearCaches(): Promise<number>;
  serve(): Promise<void>;
  stopServing(ms: number, again: boolean): Promise<{ interrupted: number }>;
  /** Lets open requests finish for so many milliseconds, and ends all workers. */
  close(ms: number): Promise<void>;
}

interface Member {
  number: number;
  journal: string;
  process: WorkerProcess;
  state: WorkerState['state'];
  since: number;
  /** It is told of changes. */
  joined: boolean;
  /** It has told something since that was looked at last, and how often in a row it had not. */
  heard: boolean;
  silences: number;
  load: WorkerLoad;
  /** What its requests hold of the budgets. */
  reservations: Map<number, Reservation>;
  listening: PromiseWithResolvers<void>;
  gone: PromiseWithResolvers<void>;
}

interface Reservation {
  reservation: BudgetReservation;
  /** What was set aside where it was let in last; null before. */
  held: Used | null;
}

const idle: WorkerLoad = { http: 0, open: 0, waiting: 0, inFlight: [], cpuSeconds: 0, residentBytes: 0 };

/** A worker that takes longer than this to read the settings anew is stuck, and must not serve with the old ones. */
const RELOAD_MS = 30_000;
const FLUSH_MS = 1_000;
/** What a worker may take until it serves. */
const START_MS = 60_000;
/**
 * A worker tells its load four times a second. One that is silent whenever it is looked at, so often in a row, is stuck. Looks
 * are counted instead of time, so that a machine that slept finds its workers silent once.
 */
const WATCH_MS = 10_000;
const SILENCES = 6;
/** The longest that a timer takes. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** One that has served for so long had no fault of its own. */
const SOUND_MS = 60_000;
/** What a worker may take to end beyond the time for its open requests. */
const GRACE_MS = 5_000;

/** @param startProcess starts the process of a worker */
export function openWorkers(input: WorkersInput, startProcess = startWorker): Workers {
  const { log, now } = input;
  const members = new Map<number, Member>();
  const pauses = new Map<number, number>();
  let restartCount = 0;
  let lastRestart: number | null = null;
  let cpuOfEnded = 0;
  let closing = false;
  let port = 0;
  /** Whose event is being handled. */
  let teller: Member | null = null;

  const joined = () => [...members.values()].filter((member) => member.joined);
  const barrier = createBarrier(async () => {
    await Promise.all(joined().map(({ process }) => process.ask('flush', null).catch(() => null)));
  });
  const flush = () => withinLimit(barrier.wait(), FLUSH_MS, () => {});
  const hear = (member: Member, event: WorkerEvent): void => {
    teller = member;
    member.heard = true;
    try {
      handle(member, event);
    } finally {
      teller = null;
    }
  };
  const handle = (member: Member, event: WorkerEvent): void => {
    switch (event.kind) {
      case 'finished':
        input.finished(event.finished);
        return;
      case 'http':
        input.countHttp(event.surface, event.method, event.status);
        return;
      case 'logged':
        if (event.access) input.accessLog?.relay(event.line);
        else writeLine(log, event.line);
        return;
      case 'health-state':
        input.accounts.take(event.changed);
        return;
      case 'limits':
        input.accounts.takeLimits(event.connectionId, event.limits);
        return;
      case 'session':
        input.routing.takeSession(event.place.session, event.place.entry);
        for (const other of joined()) if (other !== member) other.process.tell(event);
        return;
      case 'response':
        input.responses.put(event.stored);
        return;
      case 'place':
        input.places.note(event.place);
        return;
      case 'settled':
        member.reservations.get(event.reservation)?.reservation.settle(event.used);
        member.reservations.delete(event.reservation);
        return;
      case 'load':
        member.load = event.load;
    }
  };
  const answersFor = (member: () => Member): Answers<OwnerQuestions> => ({
    async join() {
      member().joined = true;
      const state: JoinedState = {
        hosts: [...input.hosts],
        serving: input.serving(),
        healthStates: input.accounts.kept(),
      };
      return state;
    },
    async listening() {
      const one = member();
      Object.assign(one, { state: 'serving', since: now(), heard: true, silences: 0 });
      one.listening.resolve();
      input.changed();
      return null;
    },
    async cannotListen({ code, message }) {
      member().listening.reject(Object.assign(new Error(message), { code }));
      return null;
    },
    async reserve({ asked, reservation: number, tokens, usd, ...way }) {
      const { reservations } = member();
      const reservation = reservations.get(number)?.reservation ?? input.limits.hold(asked);
      // The budget was removed a moment ago.
      if (reservation === null) return { refusal: null, rates: [] };
      const held: Reservation = reservations.get(number) ?? { reservation, held: null };
      reservations.set(number, held);
      const place = { ...way, tokens: () => tokens, usd: () => usd };
      let isIn = false;
      try {
        let refusal = await reservation.reserve(place);
        // What another worker's request has given back may still be on its way.
        if (refusal?.reason === 'full') {
          await flush();
          refusal = await reservation.reserve(place);
        }
        isIn = refusal === null;
        return { refusal, rates: reservation.rates() };
      } catch (error) {
        log.error(
          { worker: member().number, error: describe(error) },
          'a request could not be counted by the budgets',
        );
        throw error;
      } finally {
        if (isIn) held.held = { tokens, usd };
        else if (held.held === null) reservations.delete(number);
        // It ended meanwhile, and nobody is left to settle it: its target was not asked.
        if (members.get(member().number) !== member()) reservation.settle(null);
      }
    },
    response: ({ id, keyId }) => input.responses.get(id, keyId),
    place: ({ id, keyId }) => input.places.find(id, keyId),
    async token({ connectionId, rejected }) {
      const connection = input.connection(connectionId);
      if (connection !== null) {
        await input.tokens.fresh(connection, rejected ?? undefined);
        const token = input.tokens.newest(connection);
        if (token !== null) return token;
      }
      throw new GatewayError(
        'connection_unusable',
        'The connection was removed while a request asked for it',
      );
    },
    agentModels: () => input.agentModels(),
    flushed: async () => null,
    async written() {
      await input.ledger.written();
      return null;
    },
  });

  const begin = (number: number): Member => {
    const journal = input.ledger.journals.nextName();
    const member: Member = {
      number,
      journal,
      process: startProcess({
        start: { ...input.start, number, count: input.count, port, journal },
        hear: (event) => hear(member, event),
        answers: answersFor(() => member),
        onError: (error) =>
          log.error({ worker: number, error: String(error) }, 'a message of a worker failed'),
        ended: (reason) => ended(member, reason),
      }),
      state: 'starting',
      since: now(),
      joined: false,
      heard: true,
      silences: 0,
      load: idle,
      reservations: new Map(),
      listening: Promise.withResolvers(),
      gone: Promise.withResolvers(),
    };
    // Whoever waits for it has the reason.
    member.listening.promise.catch(() => {});
    members.set(number, member);
    const timer = setTimeout(() => {
      const reason = `it does not serve after ${START_MS / 1_000} seconds`;
      log.error({ worker: number }, `a worker is stopped: ${reason}`);
      member.listening.reject(new Error(`worker ${number} was stopped: ${reason}`));
      member.process.kill();
    }, START_MS).unref();
    // Told, or gone.
    void Promise.allSettled([member.listening.promise]).then(() => clearTimeout(timer));
    return member;
  };
  const ended = (member: Member, reason: string): void => {
    members.delete(member.number);
    cpuOfEnded += member.load.cpuSeconds;
    // Their upstreams were asked, and nobody knows for how much: as if all was used that was set aside.
    for (const { held, reservation } of member.reservations.values()) reservation.settle(held);
    member.gone.resolve();
    member.listening.reject(new Error(`worker ${member.number} ended before it listened: ${reason}`));
    if (closing) return;
    void input.ledger.journals.recover(member.journal);
    const served = member.state === 'serving' ? now() - member.since : 0;
    const pause = served >= SOUND_MS ? FIRST_PAUSE_MS : (pauses.get(member.number) ?? FIRST_PAUSE_MS);
    pauses.set(member.number, Math.min(pause * 2, LONGEST_PAUSE_MS));
    log.error(
      { worker: member.number, reason, again_in_ms: pause },
      'a worker ended with its open requests and is started again',
    );
    input.changed();
    setTimeout(() => {
      if (closing) return;
      restartCount += 1;
      lastRestart = now();
      begin(member.number);
      input.changed();
    }, pause);
  };
  const askAll = async <Kind extends keyof WorkerQuestions>(
    kind: Kind,
    question: WorkerQuestions[Kind]['question'],
    limitMs = RELOAD_MS,
  ): Promise<WorkerQuestions[Kind]['answer'][]> => {
    const late = () => Promise.reject(new Error('a worker does not answer'));
    // One that ends meanwhile has nothing to say, and one that is stuck says nothing.
    const answers = await Promise.allSettled(
      joined().map(({ process }) => withinLimit(process.ask(kind, question), limitMs, late)),
    );
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  };
  const watch = (): void => {
    for (const member of members.values()) {
      member.silences = member.heard ? 0 : member.silences + 1;
      member.heard = false;
      if (member.state !== 'serving' || member.silences < SILENCES) continue;
      log.error({ worker: member.number }, 'a worker has been silent for a minute and is stopped');
      member.process.kill();
    }
  };
  const watching = setInterval(watch, WATCH_MS).unref();

  return {
    async listen(at) {
      port = at;
      const begun = Array.from({ length: input.count }, (_, index) => begin(index + 1));
      await Promise.all(begun.map(({ listening }) => listening.promise));
    },
    states: () =>
      Array.from({ length: input.count }, (_, index) => {
        const member = members.get(index + 1);
        if (member === undefined) return { number: index + 1, pid: null, state: 'ended', since: now() };
        const { number, process, since, state } = member;
        return { number, pid: process.pid, state, since };
      }),
    restarts: () => ({ count: restartCount, lastAt: lastRestart }),
    load: () =>
      sumOf(
        [...members.values()].map(({ load }) => load),
        cpuOfEnded,
      ),
    async reload() {
      await Promise.all(
        joined().map(async (member) => {
          const timer = setTimeout(() => {
            log.error({ worker: member.number }, 'a worker does not read changed settings and is stopped');
            member.process.kill();
          }, RELOAD_MS);
          try {
            await member.process.ask('reload', null);
          } catch (error) {
            if (members.get(member.number) !== member) return;
            log.error(
              { worker: member.number, error: String(error) },
              'a worker cannot read changed settings and is stopped',
            );
            member.process.kill();
          } finally {
            clearTimeout(timer);
          }
        }),
      );
    },
    flush,
    tell(event) {
      for (const { process } of joined()) process.tell(event);
    },
    tellHealthState(changed) {
      for (const member of joined())
        if (member !== teller) member.process.tell({ kind: 'health-state', changed });
    },
    running: async () => (await askAll('running', null)).flat(),
    cacheStats: () => askAll('cache', null),
    clearCaches: async () => (await askAll('clearCache', null)).reduce((sum, count) => sum + count, 0),
    async serve() {
      await askAll('serve', null);
    },
    async stopServing(ms, again) {
      const stopped = await askAll('stopServing', { ms, again }, ms + RELOAD_MS);
      return { interrupted: stopped.reduce((sum, { interrupted }) => sum + interrupted, 0) };
    },
    async close(ms) {
      closing = true;
      clearInterval(watching);
      const enough = new Promise((resolve) => setTimeout(resolve, ms + GRACE_MS).unref());
      await Promise.all(
        [...members.values()].map(async ({ gone, joined: takesPart, process }) => {
          const drained = takesPart ? process.ask('drain', { ms }).catch(() => null) : null;
          await Promise.race([drained, enough]);
          // It has told everything.
          process.kill();
          await gone.promise;
        }),
      );
    },
  };
}

/** What a promise gives, or what `late` says once so many milliseconds have passed. */
function withinLimit<T>(promise: Promise<T>, ms: number, late: () => T | Promise<T>): Promise<T> {
  const { promise: first, reject, resolve } = Promise.withResolvers<T>();
  const timer = setTimeout(() => resolve(late()), Math.min(ms, LONGEST_TIMER_MS));
  promise.then(resolve, reject).finally(() => clearTimeout(timer));
  return first;
}

/** Waits until all workers have told what they had to tell when it was asked for, once for all who wait at the same time. */
function createBarrier(flush: () => Promise<void>): { wait(): Promise<void> } {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  const run = (): Promise<void> => {
    const flushed = flush().finally(() => {
      if (running === flushed) running = null;
    });
    running = flushed;
    return flushed;
  };
  return {
    wait() {
      if (running === null) return run();
      // One that is under way may have passed the worker that matters.
      next ??= running.then(() => {
        next = null;
        return run();
      });
      return next;
    },
  };
}

function sumOf(loads: readonly WorkerLoad[], cpuOfEnded: number): WorkerLoad {
  const inFlight = new Map<string, number>();
  for (const load of loads)
    for (const [id, requests] of load.inFlight) inFlight.set(id, (inFlight.get(id) ?? 0) + requests);
  const sum = (of: (load: WorkerLoad) => number) => loads.reduce((total, load) => total + of(load), 0);
  return {
    http: sum(({ http }) => http),
    open: sum(({ open }) => open),
    waiting: sum(({ waiting }) => waiting),
    inFlight: [...inFlight],
    cpuSeconds: cpuOfEnded + sum(({ cpuSeconds }) => cpuSeconds),
    residentBytes: sum(({ residentBytes }) => residentBytes),
  };
}

type Level = 'debug' | 'info' | 'warn' | 'error';

function isLevel(text: unknown): text is Level {
  return text === 'debug' || text === 'info' || text === 'warn' || text === 'error';
}

/** Writes a line of a worker's log as if it were this process's own. */
function writeLine(log: Log, line: string): void {
  const { level, msg, time: _, ...fields } = JSON.parse(line) as Record<string, unknown>;
  log[isLevel(level) ? level : 'error'](fields, String(msg));
}
