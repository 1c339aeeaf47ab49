import type { Strategy } from './strategy.ts';

export const roundRobin: Strategy = {
  id: 'round-robin',
  summary: 'One target after the other, each request the next one.',
  order(choices, { requestCount }) {
    const first = requestCount() % choices.length;
    return [...choices.slice(first), ...choices.slice(0, first)];
  },
};
