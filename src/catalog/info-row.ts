import type { ModelInfo } from './model-info.ts';

/** What is known of a model, as it is shown; null where it is not known. */
export function rowOfInfo(info: Partial<ModelInfo> | null) {
  return {
    context_window: info?.contextWindow ?? null,
    input_limit: info?.inputLimit ?? null,
    output_limit: info?.outputLimit ?? null,
    input_modalities: info?.inputModalities ?? null,
    output_modalities: info?.outputModalities ?? null,
    reasoning: info?.reasoning ?? null,
    tools: info?.tools ?? null,
    structured_output: info?.structuredOutput ?? null,
    released: info?.released ?? null,
    deprecated: info?.deprecated ?? null,
    stage: info?.stage ?? null,
  };
}
