import type { RemainingLimit } from '../budgets/rate-headers.ts';
import type { Refusal } from '../budgets/refusal.ts';
import type { ChargedRequest, ChargePath } from '../budgets/reservation.ts';
import type { CacheRow } from '../cache/schema.ts';
import type { AffinityEntry } from '../combos/sessions/affinity.ts';
import type { Trace } from '../combos/trace.ts';
import type { Config } from '../config.ts';
import type { AccessToken } from '../connections/credentials/access-tokens.ts';
import type { StoredHealthState } from '../health/account.ts';
import type { HealthHint } from '../health/hints.ts';
import type { RateLimitStatus } from '../health/limits.ts';
import type { RunningCall } from '../proxy/request/open-call.ts';
import type { ResponsePlace } from '../responses/places.ts';
import type { ProcessCounts } from '../telemetry/metrics/process-counts.ts';

/** Requests that are over. */
export interface FinishedRequests {
  /** Their rows of the ledger: a JSON array with an array of values for each, as `ledgerRow` has them. */
  rows: string;
  count: number;
  /** What is known of some of them beside their rows. */
  details: readonly FinishedRequestDetails[];
}

export interface FinishedRequestDetails {
  /** Which of the rows is this request's. */
  index: number;
  id: string;
  /** Its trace as it is stored; null where nothing is kept of it. */
  traceText: string | null;
  /** What the client sent, as it came. */
  traceparent: string | null;
  /** What OpenTelemetry says of it; null where nothing is sent there. */
  span: RequestSpan | null;
}

export interface RequestSpan {
  /** Null where it had no target. */
  trace: Trace | null;
  method: string;
  /** Without the query and without a key. */
  path: string;
  keyName: string;
}

/** What a session remembers: where it was answered last. */
export interface SessionPlace {
  session: string;
  entry: AffinityEntry;
}

/** How busy a worker is at a moment. */
export interface WorkerLoad {
  /** HTTP requests that it has not answered yet, those that it passes on not among them. */
  http: number;
  /** Model requests under way, and those of them that wait for a target. */
  open: number;
  waiting: number;
  /** Requests at the upstream of each connection, by its id. */
  inFlight: readonly (readonly [string, number])[];
  /** CPU time since its start, in seconds, and its memory in bytes. */
  cpuSeconds: number;
  residentBytes: number;
  /** What it has not told since its start, because too much waited for an owner that did not read. */
  untold: number;
}

/** The first message of a worker: it listens to its owner, and can be given what it needs to begin. */
export interface WorkerReady {
  /** What it runs, as `buildOnDisk` has it. */
  build: string | null;
}

/** What a worker is given when it begins. Secrets among it go through a pipe that only the two can read. */
export interface WorkerStart {
  config: Config;
  version: string;
  /** What it is called in the log: from 1. */
  number: number;
  /** How many there are. */
  count: number;
  /** The port to listen on; never 0. */
  port: number;
  /** The socket of the owner, for requests that it serves. */
  socketPath: string;
  /** Opens stored credentials. */
  sealingKey: Uint8Array;
  /** Names the gateway in `x-gateway-via`, the same in all its processes. */
  instance: string;
  ownerKey: string;
  /** What its journal of finished requests is called, as no other is. */
  journal: string;
}

/** What changes while a gateway runs, beside its settings, as it is when a worker joins. */
export interface JoinedState {
  /** Names of the gateway, those of tunnels among them. */
  hosts: readonly string[];
  /** Whether the model endpoints are served. */
  serving: boolean;
  healthStates: readonly StoredHealthState[];
  /** What other gateways found out. */
  hints: readonly HealthHint[];
}

/** What a worker tells the owner. */
export type WorkerEvent =
  | { kind: 'finished'; finished: FinishedRequests }
  /** What it has counted since it told that last. */
  | { kind: 'counted'; counts: ProcessCounts }
  /** A line of the log, as JSON. */
  | { kind: 'logged'; line: string }
  /** Lines of the access log, each with its line feed. */
  | { kind: 'access-logged'; lines: string; count: number }
  | { kind: 'health-state'; changed: StoredHealthState }
  | { kind: 'limits'; connectionId: string; limits: readonly RateLimitStatus[] }
  | { kind: 'session'; place: SessionPlace }
  /** A stored response, as `responseText` writes it. */
  | { kind: 'response'; text: string }
  | { kind: 'place'; place: ResponsePlace }
  /**
   * Ends of requests that budgets concern, and reservations for requests that did not come, as `createSettlements` writes them;
   * `isMore`: one of them used more than was set aside, so that budgets have less room than the owner believes.
   */
  | { kind: 'settled'; settlements: Float64Array; isMore: boolean }
  | { kind: 'load'; load: WorkerLoad };

/** What the owner tells a worker. */
export type OwnerEvent =
  | { kind: 'health-state'; changed: StoredHealthState }
  /** What another gateway found out. */
  | { kind: 'hint'; hint: HealthHint }
  | { kind: 'session'; place: SessionPlace }
  | { kind: 'hosts'; hosts: readonly string[] };

/** What a reservation asks for: the amounts are whole before they are sent. */
export interface ReserveQuestion extends ChargePath {
  /** Its number, which no other of the worker has. */
  reservation: number;
  /** The number of the reservations in advance of which the request has one already, which this replaces; null for none. */
  from: number | null;
  request: ChargedRequest;
  /** Input and output tokens. */
  tokens: number;
  /** Null where no price is known. */
  usd: number | null;
  /** How many more of the same to reserve for requests to come, if there is room. All of them have the next number. */
  spares: number;
}

export interface ReserveAnswer {
  refusal: Refusal | null;
  rates: readonly RemainingLimit[];
  /** How many were reserved for requests to come. */
  spares: number;
  /** When, in milliseconds since the epoch. */
  at: number;
}

/** What a worker asks the owner. */
export type OwnerQuestions = {
  /** Told of changes from here on; what changed before is for the worker to read. */
  join: { question: null; answer: JoinedState };
  /** It accepts connections. */
  listening: { question: null; answer: null };
  /** It cannot listen, for the reason that the system gave. */
  cannotListen: { question: { code: string | undefined; message: string }; answer: null };
  reserve: { question: ReserveQuestion; answer: ReserveAnswer };
  /** The same only for requests to come; `reservation` is the number of all of them. */
  reserveAhead: { question: Omit<ReserveQuestion, 'from'>; answer: Omit<ReserveAnswer, 'refusal'> };
  /** A found response, as `responseText` writes it. */
  response: { question: { id: string; keyId: string }; answer: { text: string } | 'unreadable' | null };
  place: { question: { id: string; keyId: string }; answer: ResponsePlace | 'foreign' | null };
  token: { question: { connectionId: string; rejected: string | null }; answer: AccessToken };
  /** Ids of agents that can be asked for. */
  agentModels: { question: null; answer: readonly string[] };
  /** Everything that it told has arrived. */
  flushed: { question: null; answer: null };
  /** Every finished request that it told is in the database. */
  written: { question: null; answer: null };
  /** The same, after finished requests that it did not tell were read from its journal. */
  writtenWithJournal: { question: null; answer: null };
};

/** What the owner asks a worker. */
export type WorkerQuestions = {
  /** Reads the settings anew; answered once requests see them. */
  reload: { question: null; answer: null };
  /** Everything that it told until now has arrived with the answer. */
  flush: { question: null; answer: null };
  running: { question: null; answer: RunningCall[] };
  cache: { question: null; answer: CacheRow };
  clearCache: { question: null; answer: number };
  serve: { question: null; answer: null };
  /** Stops the model endpoints as `DataPlane.stop` does. */
  stopServing: { question: { ms: number; again: boolean }; answer: { interrupted: number } };
  /**
   * Accepts nothing more, lets open requests finish for so many milliseconds, and ends those that are left, but for what it has
   * passed on.
   */
  drain: { question: { ms: number }; answer: null };
  /** Closes everything, once the owner has ended what was passed on to it, and tells what is left. */
  end: { question: null; answer: null };
};
