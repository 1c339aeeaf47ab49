import { byScore } from './by-score.ts';
import type { Strategy } from './strategy.ts';

/** An account that tells of no quota counts as one that has all of it left: nothing says that it is short. */
export const headroom: Strategy = {
  id: 'headroom',
  summary: 'The target whose account has the largest share of its quota left.',
  order: (choices, { healthView }) =>
    byScore(choices, ({ connectionId }) => -(healthView.headroom(connectionId) ?? 1)),
};
