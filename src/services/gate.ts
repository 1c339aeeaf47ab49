import type { AnyExchange } from '../http/exchange.ts';
import { resetConnection } from '../http/server/reset.ts';
import type { GatewayError } from '../lib/error.ts';
import { createIndexedSet, type IndexedMember } from '../lib/indexed-set.ts';
import type { PartStatus } from './part.ts';

interface InFlight extends IndexedMember {
  exchange: Pick<AnyExchange, 'response'>;
}

export interface GateInput {
  /** Whether it is to run at first. */
  running: boolean;
  /** The error for a request that is not admitted. @param again whether the service is started again right after */
  refusal(again: boolean): GatewayError;
  /** Ends what is under way with the error of its dialect, where that is possible. */
  interrupt(error: GatewayError): void;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Called with each change of state. */
  onChange(): void;
}

/** Admits requests to a service that shares the process and its socket with others. */
export interface Gate {
  /** Lets a request in, and counts it until it is answered. @throws GatewayError as `refusal` says */
  admit(exchange: Pick<AnyExchange, 'response'>): void;
  openRequests(): number;
  status(): PartStatus;
  start(): void | Promise<void>;
  /**
   * Admits no more requests, waits for the open requests, and ends what is left after `ms` milliseconds.
   * @param again whether it is started again right after
   * @returns how many requests were ended before they were done
   */
  stop(ms: number, again: boolean): Promise<{ interrupted: number }>;
}

/** For the last bytes of interrupted answers to leave. */
const LAST_BYTES_MS = 250;

/** Drains and refuses within the process: the socket stays open, for the management API is behind it as well. */
export function createGate({ onChange, interrupt, now, refusal, running }: GateInput): Gate {
  const inFlight = createIndexedSet<InFlight>();
  let state: 'running' | 'draining' | 'stopped' = running ? 'running' : 'stopped';
  let again = false;
  let changedAt = now();
  let startedAt: number | null = running ? now() : null;
  let onEmpty = () => {};
  const become = (next: typeof state) => {
    state = next;
    changedAt = now();
    onChange();
  };
  return {
    admit(exchange) {
      if (state !== 'running') throw refusal(again);
      const request: InFlight = { slot: -1, exchange };
      inFlight.add(request);
      exchange.response.on('close', () => {
        inFlight.remove(request);
        if (inFlight.size === 0) onEmpty();
      });
    },
    openRequests: () => inFlight.size,
    status: () => ({
      desired: state === 'running' || again ? 'running' : 'stopped',
      state,
      reason: state === 'running' ? null : reasons[state],
      changedAt,
      startedAt,
      error: null,
    }),
    start() {
      again = false;
      if (state === 'running') return;
      startedAt = now();
      become('running');
    },
    async stop(ms, thenStarts) {
      again = thenStarts;
      if (state === 'stopped') return { interrupted: 0 };
      become('draining');
      await emptied(ms);
      const interrupted = inFlight.size;
      if (interrupted > 0) await interruptAll();
      startedAt = null;
      become('stopped');
      return { interrupted };
    },
  };

  function emptied(ms: number): Promise<void> {
    if (inFlight.size === 0 || ms === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Those that have no upstream yet, e.g. because their body is still coming, can only be cut. */
  async function interruptAll(): Promise<void> {
    interrupt(refusal(again));
    await new Promise((resolve) => setTimeout(resolve, LAST_BYTES_MS));
    for (const { exchange } of inFlight.members()) resetConnection(exchange.response);
  }
}

const reasons = {
  draining: { code: 'draining', message: 'Open requests may finish; new ones are refused' },
  stopped: { code: 'stopped_by_operator', message: 'Stopped through the management API' },
} as const;
