import type { FinishReason } from '../../codecs/model/finish-reason.ts';
import type { Usage } from '../../codecs/wire-format.ts';

/** What an answer used, and the tier that it was served in; null where it did not say. */
export interface TieredUsage {
  usage: Usage | null;
  tier: string | null;
}

/** What a response used that was made in the background, and why it ended. */
export interface LateAnswer extends TieredUsage {
  usage: Usage;
  finishReason: FinishReason | null;
}

/** The use of one answer, or of the part of it that came. */
export interface AnswerUsage {
  readonly usage: Usage | null;
  /** The upstream reported none, or none yet, and the numbers were derived from what passed. */
  readonly estimated: boolean;
  /** The service tier that the upstream said it served in; null where it did not say. The usage is priced by it. */
  readonly tier: string | null;
}

export interface AnswerCost {
  usd: number | null;
  /** USD that the upstream's prompt cache saved; null where that is not known. */
  saved: number | null;
  source: string | null;
}

/** What earlier targets used for the beginning of an answer. */
export interface PriorUsage extends AnswerCost {
  usage: Usage;
  estimated: boolean;
}

/** The use of an attempt of which nothing came. */
export const noAnswerUsage: AnswerUsage = { usage: null, estimated: false, tier: null };
