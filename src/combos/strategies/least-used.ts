import { byScore } from './by-score.ts';
import type { Strategy } from './strategy.ts';

/** More than any account is asked in a minute. */
const MANY = 1_000_000;

export const leastUsed: Strategy = {
  id: 'least-used',
  summary: 'The target with the fewest requests on their way, then the one asked least of late.',
  order: (choices, { healthView }) =>
    byScore(
      choices,
      ({ connectionId }) => healthView.inFlight(connectionId) * MANY + healthView.recentUse(connectionId),
    ),
};
