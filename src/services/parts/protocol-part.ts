import type { CallCounts } from '../../lib/call-counts.ts';
import { GatewayError } from '../../lib/error.ts';
import { createGate, type Gate, type GateInput } from '../gate.ts';
import { iso, isoOrNull, type Part, type Probe } from '../part.ts';
import type { Check, Endpoint } from '../schema.ts';

/** A server of a protocol that the gateway speaks beside the model endpoints. */
export interface ProtocolServer {
  counts(): CallCounts;
  /** Speaks the protocol with itself. @returns what came of it @throws what went wrong */
  selfTest(): Promise<string>;
  /** Ends work that no request waits for; absent where there is none. */
  cancelAll?(): void;
}

export interface ProtocolGateInput extends Pick<GateInput, 'onChange' | 'now' | 'running'> {
  /** `MCP server`. */
  name: string;
}

/** Admits requests of a protocol that the gateway speaks beside the model endpoints. */
export function createProtocolGate({ name, ...input }: ProtocolGateInput): Gate {
  return createGate({
    ...input,
    refusal: (again) =>
      new GatewayError(
        'service_stopped',
        again
          ? `The ${name} is being restarted: send the request again in a moment`
          : `The ${name} was stopped by an operator of this gateway: try again later`,
        { retryAfter: again ? BACK_SOON_S : BACK_LATER_S },
      ),
    // Their requests are answered at once or not at all: those that are left are cut.
    interrupt() {},
  });
}

export interface ProtocolPartInput extends ProtocolServer {
  id: 'mcp' | 'a2a';
  kind: 'mcp_server' | 'a2a_server';
  name: string;
  description: string;
  version: string;
  gate: Gate;
  endpoints(): Endpoint[];
  /** Milliseconds since the epoch. */
  now(): number;
}

/** `Retry-After` for callers, in seconds. */
const BACK_SOON_S = 5;
const BACK_LATER_S = 30;
/** How long open requests may finish when nothing else is said. */
const DRAIN_MS = 5000;
/** For how long a fault of the gateway's own is held against it. */
const FAULT_MS = 15 * 60_000;

/** A protocol that the gateway speaks beside the model endpoints, as a service. */
export function protocolPart(input: ProtocolPartInput): Part {
  const { counts, gate, id, kind, name, now } = input;
  return {
    key: id,
    id,
    kind,
    critical: false,
    name,
    description: input.description,
    dependsOn: ['management'],
    version: input.version,
    status: gate.status,
    endpoints: input.endpoints,
    checks: () => [accepting(gate, now()), served(counts(), now())],
    lifeCycle: {
      confirm: false,
      restarts: true,
      openRequests: gate.openRequests,
      start: async () => gate.start(),
      async stop(ms = DRAIN_MS, again) {
        const done = await gate.stop(ms, again);
        input.cancelAll?.();
        return done;
      },
    },
    probe: () => probe(input),
  };
}

function accepting(gate: Gate, now: number): Check {
  const { state } = gate.status();
  const open = gate.openRequests();
  return {
    name: 'accepting',
    status: state === 'running' ? 'pass' : 'fail',
    observed_at: iso(now),
    output: `${state}, ${open} open ${open === 1 ? 'request' : 'requests'}`,
  };
}

function served({ calls, faults, lastCallAt, lastFaultAt }: CallCounts, now: number): Check {
  const recent = lastFaultAt !== null && now - lastFaultAt < FAULT_MS;
  return {
    name: 'calls',
    status: recent ? 'warn' : 'pass',
    observed_at: isoOrNull(lastCallAt),
    output: `${calls} since the start, ${faults} ended by a fault of the gateway`,
  };
}

async function probe({ gate, name, selfTest }: ProtocolPartInput): Promise<Probe> {
  const { state } = gate.status();
  if (state !== 'running') return { valid: false, message: `The ${name} is ${state}`, result: { state } };
  try {
    return { valid: true, message: await selfTest(), result: { state } };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { valid: false, message: `The ${name} does not answer itself: ${message}`, result: { state } };
  }
}
