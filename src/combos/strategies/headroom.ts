import { byScore } from './by-score.ts';
import type { Strategy } from './strategy.ts';

/** An account without a known quota counts as one that has all of it left. */
export const headroom: Strategy = {
  id: 'headroom',
  summary: 'The target whose account has the largest share of its quota left.',
  order: (choices, { healthView }) =>
    byScore(choices, ({ connectionId }) => -(healthView.headroom(connectionId) ?? 1)),
};
