import type { CloudEvent } from '../cloudevents/event.ts';

/** What came of handing an event to a processor. */
export type ProcessorOutcome =
  | { readonly kind: 'done' }
  /** Another attempt may succeed; `afterMs` is the least wait that the processor asks for. */
  | {
      readonly kind: 'retry';
      readonly reason: string;
      readonly status: number | null;
      readonly afterMs: number;
    }
  /** No attempt will succeed. */
  | { readonly kind: 'failed'; readonly reason: string; readonly status: number | null }
  /** The receiver wants no more events. */
  | { readonly kind: 'gone'; readonly reason: string };

/** Hands events to whoever is meant to get them. Never throws. */
export interface EventProcessor {
  /** Resolves when it may be given an event, for those that may only be given so many; false when it is to stop first. */
  ready?(stopping: AbortSignal): Promise<boolean>;
  process(event: CloudEvent): Promise<ProcessorOutcome>;
  close(): Promise<void>;
}
