import { byScore } from './by-score.ts';
import type { Strategy } from './strategy.ts';

/**
 * Draws without putting back: with the key u^(1/w) for each, the order of the keys is the order of such draws
 * (Efraimidis and Spirakis, 2006). A weight of 0 is drawn after all others.
 */
export const weighted: Strategy = {
  id: 'weighted',
  summary: 'By chance, each target as often as its weight says.',
  order: (choices, { random }) =>
    byScore(choices, ({ weight }) =>
      weight > 0 ? -Math.log(1 - random()) / weight : Number.POSITIVE_INFINITY,
    ),
};
