import { byScore } from './by-score.ts';
import type { Strategy } from './strategy.ts';

export const lowestCost: Strategy = {
  id: 'lowest-cost',
  summary: 'The target at which this request costs least; those without a known price last.',
  order: (choices, { costOf }) => byScore(choices, (choice) => costOf(choice) ?? Number.POSITIVE_INFINITY),
};
