import type { EndReason } from './stream-part.ts';

/** Why an answer ended. */
export interface FinishReason {
  readonly meaning: EndReason;
  /** The upstream's own word for it; null where it said none. */
  readonly raw: string | null;
}
