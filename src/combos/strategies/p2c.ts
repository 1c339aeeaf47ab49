import { shuffled } from './shuffled.ts';
import type { Strategy } from './strategy.ts';

/** Two choices keep the load nearly as even as comparing all, and no crowd runs to the one that looks best. */
export const p2c: Strategy = {
  id: 'p2c',
  summary: 'Of two targets drawn by chance, the one with fewer requests on their way.',
  order(choices, { healthView, random }) {
    const mixed = shuffled(choices, random);
    const [first, second, ...rest] = mixed;
    if (first === undefined || second === undefined) return mixed;
    const worse = healthView.inFlight(second.connectionId) < healthView.inFlight(first.connectionId);
    return worse ? [second, first, ...rest] : mixed;
  },
};
