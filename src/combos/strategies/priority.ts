import type { Strategy } from './strategy.ts';

export const priority: Strategy = {
  id: 'priority',
  summary: 'The first target of the list, and each next one when those before it cannot answer.',
  order: (choices) => choices,
};
