import type { StrategyName } from '../combo-schema.ts';
import { fillFirst } from './fill-first.ts';
import { headroom } from './headroom.ts';
import { leastUsed } from './least-used.ts';
import { lowestCost } from './lowest-cost.ts';
import { lowestLatency } from './lowest-latency.ts';
import { p2c } from './p2c.ts';
import { priority } from './priority.ts';
import { random } from './random.ts';
import { roundRobin } from './round-robin.ts';
import type { Strategy } from './strategy.ts';
import { weighted } from './weighted.ts';

/** Every strategy, by its name. */
export const strategies: Readonly<Record<StrategyName, Strategy>> = {
  priority,
  weighted,
  'round-robin': roundRobin,
  random,
  p2c,
  'least-used': leastUsed,
  'lowest-latency': lowestLatency,
  'lowest-cost': lowestCost,
  headroom,
  'fill-first': fillFirst,
};
