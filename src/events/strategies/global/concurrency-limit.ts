import type { ConcurrencyLimit } from '../../config/config.ts';
import type { Clock } from '../clock.ts';
import type { Limit, LimitAnswer, LimitScopeStatus } from '../limit.ts';
import type { Outage } from './outage.ts';
import type { LimitStore } from './store.ts';

/** What other gateways give back, nobody tells of. */
const ASK_AGAIN_MS = 100;
const ASK_ALONE_AGAIN_MS = 1_000;

export interface GlobalConcurrencyInput {
  readonly limit: ConcurrencyLimit;
  /** What the limit is called in the store. */
  readonly shared: string;
  readonly store: LimitStore;
  readonly outage: Outage;
  readonly clock: Clock;
  /** How long a permit is kept for a gateway that says nothing more. */
  readonly ttlMs: number;
  newId(): string;
  onRoom(): void;
}

/**
 * At most so many calls of all gateways at a time. A permit is a lease, renewed while the call lasts, so what a killed
 * gateway held comes back. While the store does not answer, this gateway has its part of the permits.
 */
export function createGlobalConcurrencyLimit(input: GlobalConcurrencyInput): Limit {
  const { clock, limit, newId, onRoom, outage, shared, store, ttlMs } = input;
  const { max, name } = limit;
  /** Permits of the store. */
  const heldSlots = new Set<string>();
  let inFlight = 0;
  let refused = 0;
  let scope: LimitScopeStatus = 'global';
  let cancelTimer: (() => void) | null = null;

  const refuse = (retryAfterMs: number): LimitAnswer => {
    refused += 1;
    return { kind: 'refused', retryAfterMs };
  };
  const stopRenewing = () => {
    cancelTimer?.();
    cancelTimer = null;
  };
  const renewLater = () => {
    cancelTimer ??= clock.after(ttlMs / 3, () => {
      cancelTimer = null;
      // One that fails is repeated; the permits last two more.
      if (store.ready()) store.renewPermits(shared, [...heldSlots], ttlMs).catch(outage.failed);
      renewLater();
    });
  };
  const permit = (id: string | null): LimitAnswer => {
    inFlight += 1;
    if (id !== null) heldSlots.add(id);
    if (id !== null) renewLater();
    const giveBack = () => {
      inFlight -= 1;
      if (id === null) return Promise.resolve();
      heldSlots.delete(id);
      if (heldSlots.size === 0) stopRenewing();
      // Where nobody answers, it ends by itself.
      return store.returnPermit(shared, id).catch(() => {});
    };
    return {
      kind: 'permit',
      permit: { done: () => void giveBack().then(onRoom), cancel: () => void giveBack() },
    };
  };
  const askAlone = (error: unknown): LimitAnswer => {
    outage.failed(error);
    scope = 'fallback';
    return inFlight < outage.shareOf(max) ? permit(null) : refuse(ASK_ALONE_AGAIN_MS);
  };
  const askStore = async (): Promise<LimitAnswer> => {
    const id = newId();
    try {
      const { gateways, taken } = await store.takePermit(shared, id, max, ttlMs);
      outage.answered(gateways);
      scope = 'global';
      return taken ? permit(id) : refuse(ASK_AGAIN_MS);
    } catch (error) {
      void store.returnPermit(shared, id).catch(() => {});
      return askAlone(error);
    }
  };
  return {
    kind: 'concurrency-limit',
    ask: () => (store.ready() ? askStore() : askAlone(new Error('There is no connection'))),
    status: () => ({ kind: 'concurrency-limit', name, max, inFlight, refused, scope }),
  };
}
