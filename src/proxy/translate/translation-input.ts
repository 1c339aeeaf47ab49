import type { FitSchema } from '../../codecs/schema/fit.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import type { NamedInPath } from '../request/facts.ts';
import type { ResponseState } from '../request/response-state.ts';
import type { SettledTurns } from './settled.ts';

/** The parts of a request that its translation is made from. */
export interface TranslationInput {
  readonly body: readonly Buffer[];
  readonly named: NamedInPath | null;
  readonly target: Target;
  readonly responseState?: ResponseState | null;
}

/** What is known of a target beside its format. */
export interface TranslationOptions {
  /** Fields that it does not take. */
  refusedFields: readonly string[];
  /** Tokens that it writes at most; null where that is not known. */
  outputCap: number | null;
  /** The answer that it is to continue; '' where it begins one. */
  prefix: string;
  /** Fits the schema of a tool to what it takes. */
  fit: FitSchema;
  /** Whether marks for the prompt cache are added where the client sets none. */
  cacheMarks: boolean;
  /** What of earlier turns was translated already; null where each request is translated whole. */
  settled: SettledTurns | null;
}
