import { endedRequests } from '../budgets/ended-requests.ts';
import type { CacheRow } from '../cache/schema.ts';
import type { StoredHealthState } from '../health/account.ts';
import type { RunningCall } from '../proxy/request/open-call.ts';
import { buildOnDisk } from './build.ts';
import type { Member, WorkerState } from './member.ts';
import type { OwnerEvent, WorkerLoad, WorkerQuestions, WorkerStart } from './message.ts';
import { type OwnerInput, openOwner } from './owner.ts';
import { startWorker } from './process.ts';
import { createBarrier, withinLimit } from './waiting.ts';

export interface WorkersInput extends OwnerInput {
  count: number;
  /** What a worker is given, beside its number, its journal and the port. */
  start: Omit<WorkerStart, 'number' | 'count' | 'port' | 'journal'>;
  /** The journals of finished requests, one for each worker. */
  journals: {
    nextName(): string;
    /** Records what is in the journal of a worker that has ended. */
    recover(name: string): Promise<void>;
  };
}

/** The workers of a gateway, for the process that owns the data directory. */
export interface Workers {
  /** Starts all of them. @throws the system's error when they cannot listen */
  listen(port: number): Promise<void>;
  states(): readonly WorkerState[];
  /** How often a worker was started again after it had ended by itself, and when that last was. */
  restarts(): { count: number; lastAt: number | null };
  /** Whether workers are missing because the files of the gateway have changed since it started: it has to be started again. */
  outdated(): boolean;
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
  /**
   * Has all accept nothing more and lets open requests finish for so many milliseconds; then those that are left are ended with an
   * error. What was passed on to this process goes on: it ends that itself, and what it says still reaches the clients.
   */
  drain(ms: number): Promise<void>;
  /** Ends all workers, those that were not drained with their open requests. */
  close(): Promise<void>;
}

const idle: WorkerLoad = {
  http: 0,
  open: 0,
  waiting: 0,
  inFlight: [],
  cpuSeconds: 0,
  residentBytes: 0,
  untold: 0,
};

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
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
/** One that has served for so long had no fault of its own. */
const SOUND_MS = 60_000;
/** What a worker may take beyond the time for its open requests, and to end. */
const GRACE_MS = 5_000;

/**
 * @param startProcess starts the process of a worker
 * @param build what the files of a worker are at the moment
 */
export function openWorkers(
  input: WorkersInput,
  startProcess = startWorker,
  build: () => string | null = buildOnDisk,
): Workers {
  const { log, now } = input;
  const members = new Map<number, Member>();
  const pauses = new Map<number, number>();
  let restartCount = 0;
  let lastRestart: number | null = null;
  let cpuOfEnded = 0;
  let closing = false;
  let port = 0;
  const ownBuild = build();
  let outdated = false;
  const noteOutdated = (): void => {
    if (outdated) return;
    outdated = true;
    log.error(
      {},
      'the files of the gateway have changed since it started: no worker can be started until it is restarted',
    );
    input.onChange();
  };

  const joined = () => [...members.values()].filter((member) => member.joined);
  const barrier = createBarrier(async () => {
    await Promise.all(joined().map(({ process }) => process.ask('flush', null).catch(() => null)));
  });
  const flush = () => withinLimit(barrier.wait(), FLUSH_MS, () => {});
  const owner = openOwner(input, {
    joined,
    isRunning: (member) => members.get(member.number) === member,
    flush,
  });

  const begin = (number: number): Member => {
    const journal = input.journals.nextName();
    const member: Member = {
      number,
      journal,
      process: startProcess({
        start: { ...input.start, number, count: input.count, port, journal },
        hear: (event) => owner.hear(member, event),
        answers: owner.answersFor(() => member),
        onError: (error) =>
          log.error({ worker: number, error: String(error) }, 'a message of a worker failed'),
        build: ownBuild,
        onOutdated: noteOutdated,
        onEnd: (reason) => ended(member, reason),
      }),
      state: 'starting',
      since: now(),
      joined: false,
      hasReported: true,
      silences: 0,
      load: idle,
      reservations: new Map(),
      listening: Promise.withResolvers(),
      ended: Promise.withResolvers(),
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
    for (const { open, reservedUsage, settle } of member.reservations.values())
      settle(endedRequests(reservedUsage, open));
    member.ended.resolve();
    member.listening.reject(new Error(`worker ${member.number} ended before it listened: ${reason}`));
    if (closing) return;
    void input.journals.recover(member.journal);
    const served = member.state === 'serving' ? now() - member.since : 0;
    const pause = served >= SOUND_MS ? FIRST_PAUSE_MS : (pauses.get(member.number) ?? FIRST_PAUSE_MS);
    pauses.set(member.number, Math.min(pause * 2, LONGEST_PAUSE_MS));
    log.error(
      { worker: member.number, reason, again_in_ms: pause },
      'a worker ended with its open requests and is started again',
    );
    input.onChange();
    setTimeout(() => beginAgain(member.number), pause);
  };
  const beginAgain = (number: number): void => {
    if (closing) return;
    // Of another version it may know other messages, and other tables.
    if (build() !== ownBuild) {
      noteOutdated();
      setTimeout(() => beginAgain(number), LONGEST_PAUSE_MS);
      return;
    }
    outdated = false;
    restartCount += 1;
    lastRestart = now();
    begin(number);
    input.onChange();
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
      member.silences = member.hasReported ? 0 : member.silences + 1;
      member.hasReported = false;
      if (member.state !== 'serving' || member.silences < SILENCES) continue;
      log.error({ worker: member.number }, 'a worker has been silent for a minute and is stopped');
      member.process.kill();
    }
  };
  const watching = setInterval(watch, WATCH_MS).unref();
  const stopWatching = (): void => {
    closing = true;
    clearInterval(watching);
  };
  /** Asks all members, of which some may have ended or be stuck, and waits no longer than that. */
  const askToEnd = async <Kind extends 'drain' | 'end'>(
    kind: Kind,
    question: WorkerQuestions[Kind]['question'],
    limitMs: number,
  ): Promise<void> => {
    const enough = new Promise((resolve) => setTimeout(resolve, limitMs).unref());
    await Promise.all(
      [...members.values()].map(async ({ joined: takesPart, process }) => {
        if (takesPart) await Promise.race([process.ask(kind, question).catch(() => null), enough]);
      }),
    );
  };
  let drained: Promise<void> | null = null;
  const drain = (ms: number): Promise<void> => {
    stopWatching();
    drained ??= askToEnd('drain', { ms }, ms + GRACE_MS);
    return drained;
  };

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
    outdated: () => outdated,
    load: () =>
      sumOf(
        [...members.values()].map(({ load }) => load),
        cpuOfEnded,
      ),
    async reload() {
      await Promise.all(
        joined().map(async (member) => {
          const timer = setTimeout(() => {
            log.error({ worker: member.number }, 'a worker does not read changed settings, and is ended');
            member.process.kill();
          }, RELOAD_MS);
          try {
            await member.process.ask('reload', null);
          } catch (error) {
            if (members.get(member.number) !== member) return;
            log.error(
              { worker: member.number, error: String(error) },
              'a worker cannot read changed settings, and is ended',
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
        if (member !== owner.teller()) member.process.tell({ kind: 'health-state', changed });
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
    drain,
    async close() {
      await drain(0);
      // It has told everything.
      await askToEnd('end', null, GRACE_MS);
      await Promise.all(
        [...members.values()].map(({ ended, process }) => {
          process.kill();
          return ended.promise;
        }),
      );
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
    untold: sum(({ untold }) => untold),
  };
}
