import type { AnyExchange } from '../http/exchange.ts';
import { GatewayError } from '../lib/error.ts';
import type { OpenCall } from '../proxy/request/open-call.ts';
import { createGate, type Gate, type GateInput } from './gate.ts';
import type { PartStatus } from './part.ts';

export interface DataPlaneInput extends Pick<GateInput, 'onChange' | 'now' | 'running'> {
  /** Calls in flight. */
  calls(): readonly OpenCall[];
}

/** Admits requests to the model endpoints. */
export interface DataPlane extends Omit<Gate, 'admit'> {
  /** Lets a model request in, and counts it until it is answered. @throws GatewayError `data_plane_stopped` */
  gate(exchange: Pick<AnyExchange, 'response'>): void;
}

/** The same model endpoints in other processes of this gateway. */
export interface DataPlaneWorkers {
  load(): { http: number };
  serve(): Promise<void>;
  stopServing(ms: number, again: boolean): Promise<{ interrupted: number }>;
}

/** A data plane that starts and stops with those of the workers. @param workers null while there are none yet */
export function withWorkers(plane: DataPlane, workers: () => DataPlaneWorkers | null): DataPlane {
  /** What is shown until the workers have stopped too, of which this process has no requests. */
  let draining: PartStatus | null = null;
  return {
    ...plane,
    status: () => draining ?? plane.status(),
    openRequests: () => plane.openRequests() + (workers()?.load().http ?? 0),
    async start() {
      plane.start();
      await workers()?.serve();
    },
    async stop(ms, again) {
      const own = plane.stop(ms, again);
      const { state } = plane.status();
      draining = state === 'stopped' ? null : plane.status();
      try {
        const [stopped, others] = await Promise.all([own, workers()?.stopServing(ms, again)]);
        return { interrupted: stopped.interrupted + (others?.interrupted ?? 0) };
      } finally {
        draining = null;
      }
    },
  };
}

/** `Retry-After` for clients, in seconds. */
const BACK_SOON_S = 5;
const BACK_LATER_S = 30;

export function createDataPlane({ calls, ...input }: DataPlaneInput): DataPlane {
  const { admit, ...gate } = createGate({
    ...input,
    refusal: (again) =>
      new GatewayError(
        'data_plane_stopped',
        again
          ? 'The model endpoints are being restarted: send the request again in a moment'
          : 'The model endpoints were stopped by an operator of this gateway: try again later',
        { retryAfter: again ? BACK_SOON_S : BACK_LATER_S },
      ),
    interrupt(error) {
      for (const call of calls()) call.interrupt(error);
    },
  });
  return { ...gate, gate: admit };
}
