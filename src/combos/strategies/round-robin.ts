import type { Strategy } from './strategy.ts';

export const roundRobin: Strategy = {
  id: 'round-robin',
  summary: 'One target after the other, each request the next one.',
  order(choices, { turn }) {
    const first = turn() % choices.length;
    return [...choices.slice(first), ...choices.slice(0, first)];
  },
};
