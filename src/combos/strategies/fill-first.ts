import { byScore } from './by-score.ts';
import type { Strategy } from './strategy.ts';

/** What is used up comes last, not first. */
export const fillFirst: Strategy = {
  id: 'fill-first',
  summary: 'The target whose account is used up most, so that one quota is spent before the next.',
  order: (choices, { healthView }) =>
    byScore(choices, ({ connectionId }) => {
      const left = healthView.headroom(connectionId) ?? 1;
      return left > 0 ? left : Number.POSITIVE_INFINITY;
    }),
};
