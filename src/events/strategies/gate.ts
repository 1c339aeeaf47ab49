import type { StrategyKind } from '../config/config.ts';
import type { Clock } from './clock.ts';
import type { CallOutcome, Limit, LimitStatus, Permit } from './limit.ts';

export interface AdmittedCall {
  readonly kind: 'admitted';
  /**
   * To be called once, when the call is over.
   * @param ms how long it took; infinite where it ran out of time
   */
  done(outcome: CallOutcome, ms: number): void;
  /** To be called instead, when the call was not made, because something else refused it. */
  cancel(): void;
}

export interface RefusedCall {
  readonly kind: 'refused';
  readonly by: StrategyKind;
  readonly retryAfterMs: number;
  /** The answer to an HTTP request that is refused, by name; absent: that of the gateway. */
  readonly fallback?: string;
}

export type Admission = AdmittedCall | RefusedCall;

export interface GateStatus {
  readonly limits: readonly LimitStatus[];
  /** Calls that wait their turn. */
  readonly waiting: number;
  /** What the first of them waits for; null when nobody waits. */
  readonly blockedBy: StrategyKind | null;
}

/** All limits on the calls of one resource. A call passes all of them or none. */
export interface Gate {
  /** Lets a call pass, or refuses it, at once where no limit is global. */
  admit(): Admission | Promise<Admission>;
  /** Waits until the call may pass, first come, first served. @returns null when the signal ends the wait */
  wait(signal: AbortSignal): Promise<AdmittedCall | null>;
  status(): GateStatus;
}

/** A gate whose limits can be exchanged. */
export interface OpenGate extends Gate {
  /** Who waits asks the new limits. Calls under way are still reported to the old ones. */
  use(limits: readonly Limit[], fallbacks?: ReadonlyMap<Limit, string>): void;
  /** Call it when a limit that refused a call may let one pass. */
  roomMade(): void;
}

/** Without limits everything passes. */
export function createGate(clock: Clock): OpenGate {
  let limits: readonly Limit[] = [];
  let fallbacks: ReadonlyMap<Limit, string> = new Map();
  const queue: Waiter[] = [];
  let blockedBy: StrategyKind | null = null;
  let serving = false;
  let cancelTimer = () => {};
  /** Grows with every chance that a refused call may pass. */
  let chances = 0;

  const admit = () => (limits.length === 0 ? unlimited : askFrom({ limits, fallbacks }, 0, []));
  const serve = async () => {
    if (serving) return;
    serving = true;
    cancelTimer();
    for (let [first] = queue; first !== undefined; [first] = queue) {
      const before = chances;
      const answer = admit();
      const admission = answer instanceof Promise ? await answer : answer;
      if (admission.kind === 'refused') {
        blockedBy = admission.by;
        if (chances !== before) continue;
        cancelTimer = clock.after(admission.retryAfterMs, serveAgain);
        break;
      }
      if (queue[0] === first) queue.shift();
      first.take(admission);
    }
    if (queue.length === 0) blockedBy = null;
    serving = false;
  };
  const serveAgain = () => {
    chances += 1;
    void serve();
  };
  return {
    admit,
    wait(signal) {
      return new Promise((resolve) => {
        if (signal.aborted) return resolve(null);
        const leave = () => {
          queue.splice(queue.indexOf(waiter), 1);
          if (queue.length === 0) cancelTimer();
          resolve(null);
        };
        const waiter: Waiter = {
          take(admitted) {
            // It left while a global limit was being asked.
            if (signal.aborted) return admitted.cancel();
            signal.removeEventListener('abort', leave);
            resolve(admitted);
          },
        };
        signal.addEventListener('abort', leave, { once: true });
        queue.push(waiter);
        if (queue.length === 1) void serve();
      });
    },
    status: () => ({
      limits: limits.map((limit) => limit.status()),
      waiting: queue.length,
      blockedBy: queue.length === 0 ? null : blockedBy,
    }),
    use(next, nextFallbacks = new Map()) {
      limits = next;
      fallbacks = nextFallbacks;
      serveAgain();
    },
    roomMade: serveAgain,
  };
}

interface Waiter {
  take(admitted: AdmittedCall): void;
}

interface PermitRequest {
  readonly limits: readonly Limit[];
  readonly fallbacks: ReadonlyMap<Limit, string>;
}

/** Where there is no limit, nobody has to be told what came of a call. */
const unlimited: AdmittedCall = { kind: 'admitted', done() {}, cancel() {} };

/** Asks one limit after the other. What was given before a refusal goes back. */
function askFrom(
  asked: PermitRequest,
  from: number,
  permits: readonly Permit[],
): Admission | Promise<Admission> {
  const { limits } = asked;
  const refused = (limit: Limit, retryAfterMs: number, back: readonly Permit[]): RefusedCall => {
    for (const permit of back) permit.cancel();
    const refusal: RefusedCall = { kind: 'refused', by: limit.kind, retryAfterMs };
    const fallback = asked.fallbacks.get(limit);
    return fallback === undefined ? refusal : { ...refusal, fallback };
  };
  let grantedPermits = permits;
  for (let index = from; index < limits.length; index += 1) {
    const limit = limits[index];
    if (limit === undefined) break;
    const answer = limit.ask();
    if (answer instanceof Promise) {
      const before = grantedPermits;
      return answer.then((later) => {
        if (later.kind === 'permit') return askFrom(asked, index + 1, [...before, later.permit]);
        return refused(limit, later.retryAfterMs, before);
      });
    }
    if (answer.kind === 'refused') return refused(limit, answer.retryAfterMs, grantedPermits);
    grantedPermits = [...grantedPermits, answer.permit];
  }
  return {
    kind: 'admitted',
    done(outcome, ms) {
      for (const permit of grantedPermits) permit.done(outcome, ms);
    },
    cancel() {
      for (const permit of grantedPermits) permit.cancel();
    },
  };
}

/** A call that has to pass two gates: at once where both answer at once. */
export function admitToBoth(outer: Gate, inner: Gate): Admission | Promise<Admission> {
  const first = outer.admit();
  return first instanceof Promise
    ? first.then((admission) => admitToSecond(admission, inner))
    : admitToSecond(first, inner);
}

function admitToSecond(first: Admission, inner: Gate): Admission | Promise<Admission> {
  if (first.kind === 'refused') return first;
  const second = inner.admit();
  return second instanceof Promise
    ? second.then((admission) => bothOf(first, admission))
    : bothOf(first, second);
}

function bothOf(first: AdmittedCall, second: Admission): Admission {
  if (second.kind === 'refused') {
    first.cancel();
    return second;
  }
  if (first === unlimited) return second;
  if (second === unlimited) return first;
  return {
    kind: 'admitted',
    done(outcome, ms) {
      second.done(outcome, ms);
      first.done(outcome, ms);
    },
    cancel() {
      second.cancel();
      first.cancel();
    },
  };
}
