import { shuffled } from './shuffled.ts';
import type { Strategy } from './strategy.ts';

export const random: Strategy = {
  id: 'random',
  summary: 'By chance, every target as often as any other.',
  order: (choices, moment) => shuffled(choices, moment.random),
};
