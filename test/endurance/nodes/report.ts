import type { LedgerReport } from '../ledger.ts';
import type { ProcessReport } from './usage.ts';

export interface TwoNodesReport {
  readonly requests: number;
  readonly endings: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
  readonly faults: Readonly<Record<string, number>>;
  /** Answers that are neither whole nor an error nor cut by a fault of the run, the first ten. */
  readonly wrong: readonly string[];
  /** Connections that broke where nothing explains it, the first ten. */
  readonly unexplained: readonly string[];
  readonly ledgerRows: number;
  /** Requests whose client has an answer and whose row is missing, though their gateway lived on; the first ten, with the faults around them. */
  readonly missing: number;
  readonly missingRows: readonly string[];
  /** The same of gateways that were killed within a second after the answer. */
  readonly missingByKill: number;
  readonly missingByKillRows: readonly string[];
  /** Rows of one answer of the upstream beyond the first. */
  readonly doubledRows: number;
  /** Complete answers whose row says something else. */
  readonly otherOutcome: readonly string[];
  /** Requests that reached the upstream again though it had not failed them. */
  readonly sentTwice: number;
  /** The budget: its limit of a day, and how many of its requests reached the upstream on each day. */
  readonly budget: {
    readonly limit: number;
    readonly sentByDay: readonly number[];
    readonly overspent: number;
  };
  /** Growth in ten minutes of the used heap of the gateway that is not restarted in the end, in MiB. */
  readonly heapGrowthMiB: number;
  /** The processes of that gateway: the one that was started first, then its workers. */
  readonly processes: readonly ProcessReport[];
  /** Of the first of them, by minutes. */
  readonly memory: readonly string[];
  readonly samples: number;
  /** Events that were sent to the gateways, through NATS and through Redis. */
  readonly events: LedgerReport;
  /** Deliveries again of what was with a receiver when its gateway was killed, which the next one cannot know of. */
  readonly repeatedByKill: number;
  /** Every other repeated delivery, the first ten, with the faults of its time. */
  readonly repeated: readonly string[];
}
