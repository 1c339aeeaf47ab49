import type { HealthView } from '../../health/health-view.ts';
import type { StrategyName } from '../combo-schema.ts';

/** One place where the request could go. An inner combo stands here as the target that it would try first. */
export interface Choice {
  connectionId: string;
  model: string;
  /** Its share, from 0. */
  weight: number;
}

/** What a strategy may go by. It asks for no more than it needs, for each answer costs time. */
export interface StrategyContext<C extends Choice = Choice> {
  healthView: HealthView;
  /** From 0 up to, but not including, 1. */
  random(): number;
  /** How often this combo was asked before. */
  requestCount(): number;
  /** USD that this request would cost there, about; null when no price is known. */
  costOf(choice: C): number | null;
}

/** A way to order the targets of a combo that can be asked at this moment. */
export interface Strategy {
  id: StrategyName;
  /** One sentence: which target comes first. */
  summary: string;
  /**
   * All of `choices`, the best first. They come in the order of the combo, at least one, and the array is not changed.
   */
  order<C extends Choice>(choices: readonly C[], moment: StrategyContext<C>): readonly C[];
}
