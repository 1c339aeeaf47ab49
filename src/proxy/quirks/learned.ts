import type { FitSchema } from '../../codecs/schema/fit.ts';
import { createFittedSchemas } from '../translate/fitted-schemas.ts';
import { createSettledTurns, type SettledTurns } from '../translate/settled.ts';
import { createOutputCaps, type OutputCaps } from './output-caps.ts';
import { createRefusedMembers, type RefusedMembers } from './refused-members.ts';

/** What requests teach for those after them. */
export interface Learned {
  refused: RefusedMembers;
  outputCaps: OutputCaps;
  /** Fits the schemas of tools, and remembers what it fitted. */
  fitSchema: FitSchema;
  /** What of agents' conversations was translated already. */
  settled: SettledTurns;
}

/** Nothing of it outlives the process. */
export function createLearned(): Learned {
  return {
    fitSchema: createFittedSchemas(),
    outputCaps: createOutputCaps(),
    refused: createRefusedMembers(),
    settled: createSettledTurns(),
  };
}
