import { countIn, countOf, isCount, objectOf, wholeCount } from '../json/values.ts';
import type { InputDetails, OutputDetails, PromptCounts, ServerToolCounts } from '../openai-shared/wire.ts';
import { noUsage, type Usage } from '../wire-format.ts';

/** A usage record whose totals include their parts, as the OpenAI formats have it. */
export interface InclusiveCounts {
  /** All input: fresh, cached, written to the cache, audio. */
  prompt: number;
  cached: number;
  written: number;
  audioInput: number;
  /** All output; some vendors exclude reasoning from it, as `total` shows. */
  completion: number;
  /** Null when the vendor does not report it. */
  reasoning: number | null;
  audioOutput: number;
  /** Null when the vendor does not report it. */
  total: number | null;
  webSearches: number;
}

/**
 * Takes the totals apart into disjoint buckets. No bucket is negative, and the input buckets add up to `prompt`
 * even when a vendor's parts do not fit into its totals.
 */
export function disjoint(counts: InclusiveCounts): Usage {
  const cacheRead = Math.min(counts.cached, counts.prompt);
  const cacheWrite5m = Math.min(counts.written, counts.prompt - cacheRead);
  const audioInput = Math.min(counts.audioInput, counts.prompt - cacheRead - cacheWrite5m);
  const { completion, reasoning } = withReasoning(counts);
  const audioOutput = Math.min(counts.audioOutput, completion - reasoning);
  return {
    ...noUsage,
    input: counts.prompt - cacheRead - cacheWrite5m - audioInput,
    cacheRead,
    cacheWrite5m,
    audioInput,
    output: completion - reasoning - audioOutput,
    reasoning,
    audioOutput,
    webSearches: counts.webSearches,
  };
}

/**
 * All output including reasoning. xAI counts reasoning beside `completion_tokens`, and Google's OpenAI surface
 * counts thinking in the total only; both show as a total greater than prompt and completion.
 */
function withReasoning(counts: InclusiveCounts): { completion: number; reasoning: number } {
  const { prompt, cached, written, completion, reasoning, total } = counts;
  const beyond = total === null ? 0 : Math.max(0, total - prompt - completion);
  if (reasoning === null) {
    // If a vendor excludes the cached part from its prompt, the total is greater for that reason.
    const hidden = beyond === cached + written ? 0 : beyond;
    return { completion: completion + hidden, reasoning: hidden };
  }
  const outside = reasoning > 0 && (beyond === reasoning || (reasoning > completion && beyond > 0));
  if (outside || (reasoning > completion && total === null))
    return { completion: completion + reasoning, reasoning };
  return { completion, reasoning: Math.min(reasoning, completion) };
}

/** True when nothing was counted: such a report is as good as none. */
export function isEmptyUsage(usage: Usage): boolean {
  for (const bucket in usage) if (usage[bucket as keyof Usage] !== 0) return false;
  return true;
}

/** True for the usage object of chat, completions and embeddings. */
export function hasPromptCounts(counts: PromptCounts): boolean {
  return isCount(counts.prompt_tokens) || isCount(counts.completion_tokens) || isCount(counts.total_tokens);
}

/**
 * The usage object of chat, completions and embeddings (OpenAI API reference, `CompletionUsage`), with the
 * variants of other vendors: DeepSeek's `prompt_cache_hit_tokens`, Moonshot's `cached_tokens`, top-level
 * `reasoning_tokens`. Null when it counts nothing.
 */
export function promptUsage(counts: PromptCounts): Usage | null {
  const input = objectOf<InputDetails>(counts.prompt_tokens_details);
  const output = objectOf<OutputDetails>(counts.completion_tokens_details);
  const total = countIn(counts.total_tokens);
  const reasoning = countIn(output.reasoning_tokens) ?? countIn(counts.reasoning_tokens);
  const onlyTotal = !isCount(counts.prompt_tokens) && !isCount(counts.completion_tokens);
  const usage = disjoint({
    prompt: onlyTotal ? wholeCount(total ?? 0) : countOf(counts.prompt_tokens),
    cached: countOf(
      input.cached_tokens,
      counts.prompt_cache_hit_tokens,
      counts.cached_tokens,
      counts.cache_read_input_tokens,
    ),
    written: countOf(input.cache_write_tokens, counts.cache_creation_input_tokens),
    audioInput: countOf(input.audio_tokens),
    completion: countOf(counts.completion_tokens),
    reasoning: reasoning === null ? null : wholeCount(reasoning),
    audioOutput: countOf(output.audio_tokens),
    total: total === null ? null : wholeCount(total),
    webSearches: countOf(objectOf<ServerToolCounts>(counts.server_tool_use).web_search_requests),
  });
  return isEmptyUsage(usage) ? null : usage;
}

/** Usage as chat and completions report it: the prompt with everything cached in it, the completion with reasoning. */
export function promptCounts(usage: Usage): PromptCounts {
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const prompt = usage.input + usage.cacheRead + written + usage.audioInput + usage.imageInput;
  const completion = usage.output + usage.reasoning + usage.audioOutput + usage.imageOutput;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      ...(written === 0 ? {} : { cache_write_tokens: written }),
      audio_tokens: usage.audioInput,
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning, audio_tokens: usage.audioOutput },
  };
}
