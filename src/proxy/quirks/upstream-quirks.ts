import type { FitSchema } from '../../codecs/schema/fit.ts';
import { createFittedSchemas } from '../translate/fitted-schemas.ts';
import { createSettledTurns, type SettledTurns } from '../translate/settled.ts';
import { createOutputCaps, type OutputCaps } from './output-caps.ts';
import { createRefusedFields, type RefusedFields } from './refused-fields.ts';

/** What requests teach for those after them. */
export interface UpstreamQuirks {
  refusedFields: RefusedFields;
  outputCaps: OutputCaps;
  /** Fits the schemas of tools, and remembers what it fitted. */
  fitSchema: FitSchema;
  /** What of agents' conversations was translated already. */
  settled: SettledTurns;
}

/** Nothing of it outlives the process. */
export function createUpstreamQuirks(): UpstreamQuirks {
  return {
    fitSchema: createFittedSchemas(),
    outputCaps: createOutputCaps(),
    refusedFields: createRefusedFields(),
    settled: createSettledTurns(),
  };
}
