import type { FallbackAction } from '../../config.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import { decodeHttp, type HttpMessage } from '../cloudevents/http.ts';
import type { EventProblem } from '../cloudevents/problem.ts';
import type { Source, StrategyKind } from '../config/config.ts';
import { type PublishResult, type RejectReason, refusalReasons } from '../engine/publishing/publisher.ts';
import type { Admission } from '../strategies/gate.ts';

/** How long a sender may be kept waiting for room in a storage. */
const ROOM_MS = 5_000;
/** How long a sender may be kept waiting at all, e.g. while a channel is tried again. */
const ANSWER_MS = 20_000;

/** What came of one event that was received; `unknown` when it was not settled in time. */
export interface Receipt {
  readonly id: string;
  /** The id of the source in the configuration. */
  readonly source: string;
  readonly outcome: 'accepted' | 'spooled' | 'dropped' | RejectReason | 'unknown';
  /** When to send it again; null for what is not to be sent again. */
  readonly retryAfterMs: number | null;
  /** What an `HttpRequestFallbackAction` answers; null: nothing of its own. */
  readonly fallback: FallbackAction | null;
}

export type IngestResult =
  | { readonly kind: 'invalid'; readonly problems: readonly EventProblem[] }
  /** No source of the configuration is meant. `event` is the place of the first such event. */
  | { readonly kind: 'no-source'; readonly event: number }
  | { readonly kind: 'forbidden'; readonly source: string }
  /** A limit on the requests refused this one, and none of its events was published. */
  | {
      readonly kind: 'refused';
      readonly reason: (typeof refusalReasons)[StrategyKind];
      readonly retryAfterMs: number;
      readonly fallback: FallbackAction | null;
    }
  | { readonly kind: 'received'; readonly receipts: readonly Receipt[] };

export interface IngestInput {
  /** The sources whose events come in by HTTP. */
  sources(): readonly Source[];
  /** Null when there is no such source any more. */
  publish(sourceId: string, event: CloudEvent, waitMs: number): Promise<PublishResult> | null;
  /** The limits on the requests themselves. */
  admit(): Admission | Promise<Admission>;
  /** What requests that are refused are answered with, by name. */
  fallbacks: Readonly<Record<string, FallbackAction>>;
}

/** Takes events from elsewhere, for the sources that the configuration names. */
export interface Ingest {
  /**
   * Publishes all events of a message, or none when one of them is invalid, or is for a source that the sender may not send for.
   * @param sourceId the source that the sender names; null: the one that the event's own `source` names, or the only one
   */
  receive(
    message: HttpMessage,
    sourceId: string | null,
    maySend: (sourceId: string) => boolean,
  ): Promise<IngestResult>;
}

export function createIngest({ admit, fallbacks, publish, sources }: IngestInput): Ingest {
  const fallbackOf = (name?: string) => (name === undefined ? null : (fallbacks[name] ?? null));
  const deliver = async (sourceId: string, event: CloudEvent): Promise<Receipt> => {
    const { id } = event.attributes;
    const result = await withinTime(publish(sourceId, event, ROOM_MS));
    const receipt = { id, source: sourceId };
    if (result === null) return { ...receipt, outcome: 'unknown', retryAfterMs: 1_000, fallback: null };
    if (result.kind !== 'rejected')
      return { ...receipt, outcome: result.kind, retryAfterMs: null, fallback: null };
    const { reason, retryAfterMs } = result;
    return { ...receipt, outcome: reason, retryAfterMs, fallback: fallbackOf(result.fallback) };
  };
  return {
    async receive(message, sourceId, maySend) {
      const decoded = decodeHttp(message);
      if (!decoded.ok) return { kind: 'invalid', problems: decoded.problems };
      const currentSources = sources();
      const deliveries: { event: CloudEvent; source: string }[] = [];
      for (const [index, event] of decoded.value.events.entries()) {
        const source = sourceOf(event, sourceId, currentSources);
        if (source === null) return { kind: 'no-source', event: index };
        if (!maySend(source)) return { kind: 'forbidden', source };
        deliveries.push({ event, source });
      }
      const admission = await admit();
      if (admission.kind === 'refused') {
        const { by, fallback, retryAfterMs } = admission;
        return {
          kind: 'refused',
          reason: refusalReasons[by],
          retryAfterMs,
          fallback: fallbackOf(fallback),
        };
      }
      const begunAt = performance.now();
      const receipts = await Promise.all(deliveries.map(({ event, source }) => deliver(source, event)));
      const failed = receipts.some(({ outcome }) => faults.has(outcome));
      admission.done(failed ? 'error' : 'ok', performance.now() - begunAt);
      return { kind: 'received', receipts };
    },
  };
}

/** Outcomes that a circuit breaker before the requests counts: there is nothing wrong with the events. */
const faults: ReadonlySet<Receipt['outcome']> = new Set(['full', 'unavailable', 'unknown']);

/** The source that is named, or whose id or name is the event's `source`, or the only one there is. */
function sourceOf(event: CloudEvent, named: string | null, sources: readonly Source[]): string | null {
  const { source } = event.attributes;
  if (named !== null) return sources.find(({ id }) => id === named)?.id ?? null;
  const own =
    sources.find(({ id }) => id === source) ?? sources.find(({ processor }) => processor.name === source);
  return own?.id ?? (sources.length === 1 ? (sources[0]?.id ?? null) : null);
}

/** @returns null for what did not come in time, or comes from nowhere */
async function withinTime(publishing: Promise<PublishResult> | null): Promise<PublishResult | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ANSWER_MS);
  });
  const result = await Promise.race([publishing, late]);
  clearTimeout(timer);
  return result;
}
