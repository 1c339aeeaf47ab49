import type { ProxyContext } from '../context.ts';
import { createFittedSchemas } from '../translate/fitted-schemas.ts';
import { createOutputCaps } from './output-caps.ts';
import { createRefusedMembers } from './refused-members.ts';

/** What requests teach for those after them, of which nothing outlives the process. */
export function createLearned(): Pick<ProxyContext, 'fitSchema' | 'outputCaps' | 'refused'> {
  return {
    fitSchema: createFittedSchemas(),
    outputCaps: createOutputCaps(),
    refused: createRefusedMembers(),
  };
}
