import { utf8Text } from '../../../lib/bytes.ts';
import { fieldNeedle } from '../../json/needle.ts';
import {
  byteLengthOf,
  countOf,
  isCount,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
} from '../../json/values.ts';
import { tierWord } from '../../model/tier.ts';
import { disjoint, isEmptyUsage } from '../../usage/token-counts.ts';
import { lastUsage, type UsageSearch } from '../../usage/usage-bytes.ts';
import type { Usage } from '../../wire-format.ts';
import type {
  ExecutableCode,
  FunctionCall,
  GeminiAnswer,
  GroundingMetadata,
  ModalityCount,
  PartialArg,
  UsageMetadata,
} from '../wire.ts';
import { chunksIn, partsIn } from './chunk.ts';

/** At the root, in Cloud Code's `response`, in an array; the arguments of a call are deeper. */
const counts: Omit<UsageSearch, 'kind'> = {
  key: fieldNeedle('usageMetadata'),
  maxDepth: 3,
  accepts: ({ candidatesTokenCount, promptTokenCount, totalTokenCount }: UsageMetadata) =>
    [promptTokenCount, candidatesTokenCount, totalTokenCount].some(isCount),
};
/** In a candidate of these. */
const searches: Omit<UsageSearch, 'kind'> = {
  key: fieldNeedle('groundingMetadata'),
  maxDepth: 5,
  accepts: ({ webSearchQueries }: GroundingMetadata) => listOf(webSearchQueries).length > 0,
};

/** Usage of a complete answer; null when it reports none. */
export function readUsage(body: Uint8Array): Usage | null {
  return usageIn('body', body);
}

/** Usage of a stream: every chunk reports all up to there, so that the last report counts. */
export function readStreamUsage(head: Uint8Array, tail: Uint8Array): Usage | null {
  return usageIn('stream', tail, head);
}

/** The tier in the usage (Gemini API: `serviceTier`; Google's cloud: `trafficType`). */
export function readTier(head: Uint8Array, tail: Uint8Array, kind: 'body' | 'stream'): string | null {
  const usageObject = lastUsage(tail, { ...counts, kind }) ?? lastUsage(head, { ...counts, kind });
  return usageObject === null ? null : tierIn(usageObject.counts);
}

export function tierIn(usageMetadata: UsageMetadata): string | null {
  return tierWord(usageMetadata.serviceTier) ?? tierWord(usageMetadata.trafficType);
}

function usageIn(kind: UsageSearch['kind'], ...places: Uint8Array[]): Usage | null {
  const last = (search: Omit<UsageSearch, 'kind'>) => {
    for (const bytes of places) {
      const usageObject = lastUsage(bytes, { ...search, kind });
      if (usageObject !== null) return usageObject.counts;
    }
    return null;
  };
  const lastCount = last(counts);
  return lastCount === null ? null : usageOf(lastCount, last(searches));
}

/**
 * `usageMetadata` (Gemini API reference) in disjoint buckets: the prompt includes what was cached, the results of
 * the vendor's own tools are input beside it, and thoughts are output beside the candidates. Every
 * query of a search counts as one. Null when nothing was counted.
 */
export function usageOf(metadata: UsageMetadata, grounding: GroundingMetadata | null): Usage | null {
  const tools = countOf(metadata.toolUsePromptTokenCount);
  const prompt = countOf(metadata.promptTokenCount) + tools;
  const reasoning = countOf(metadata.thoughtsTokenCount);
  const beyond = Math.max(0, countOf(metadata.totalTokenCount) - prompt - reasoning);
  const visible = countOf(metadata.candidatesTokenCount, metadata.responseTokenCount, beyond);
  const audioCached = tokensOf('AUDIO', metadata.cacheTokensDetails);
  const usage = disjoint({
    prompt,
    cached: countOf(metadata.cachedContentTokenCount),
    written: 0,
    audioInput: Math.max(0, tokensOf('AUDIO', metadata.promptTokensDetails) - audioCached),
    completion: visible + reasoning,
    reasoning,
    audioOutput: tokensOf('AUDIO', metadata.candidatesTokensDetails),
    total: null,
    webSearches: listOf(grounding?.webSearchQueries).length,
  });
  const fresh =
    tokensOf('IMAGE', metadata.promptTokensDetails) - tokensOf('IMAGE', metadata.cacheTokensDetails);
  const imageInput = Math.min(usage.input, Math.max(0, fresh));
  const imageOutput = Math.min(usage.output, tokensOf('IMAGE', metadata.candidatesTokensDetails));
  if (isEmptyUsage(usage)) return null;
  return {
    ...usage,
    input: usage.input - imageInput,
    imageInput,
    output: usage.output - imageOutput,
    imageOutput,
  };
}

/** The tokens of one modality in a list of `{modality, tokenCount}`. */
function tokensOf(modality: string, details: unknown): number {
  return listOf(details)
    .map(objectOf<ModalityCount>)
    .reduce((sum, detail) => sum + (detail.modality === modality ? countOf(detail.tokenCount) : 0), 0);
}

/** Usage in the format's own way. It has no word for what was written to a cache, which was input after all. */
export function usageMetadataOf(usage: Usage): UsageMetadata {
  const text = usage.input + usage.cacheRead + usage.cacheWrite5m + usage.cacheWrite1h;
  const prompt = text + usage.imageInput + usage.audioInput;
  const candidates = usage.output + usage.imageOutput + usage.audioOutput;
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + candidates + usage.reasoning,
    ...(usage.cacheRead === 0 ? {} : { cachedContentTokenCount: usage.cacheRead }),
    ...modalities('promptTokensDetails', [text, usage.imageInput, usage.audioInput]),
    ...modalities('candidatesTokensDetails', [usage.output, usage.imageOutput, usage.audioOutput]),
    ...(usage.reasoning === 0 ? {} : { thoughtsTokenCount: usage.reasoning }),
  };
}

/** Counts of text, pictures and audio by their names, where there is more than text. */
function modalities(name: string, [text, image, audio]: [number, number, number]): JsonObject {
  if (image + audio === 0) return {};
  const counts = Object.entries({ TEXT: text, IMAGE: image, AUDIO: audio });
  const positiveCounts = counts.filter(([, tokenCount]) => tokenCount > 0);
  return { [name]: positiveCounts.map(([modality, tokenCount]) => ({ modality, tokenCount })) };
}

/** UTF-8 bytes of what the model wrote in one answer or chunk: text, thoughts, names and arguments of calls. */
export function writtenBytes(chunk: GeminiAnswer): number {
  let sum = 0;
  for (const candidate of listOf(chunk.candidates).filter(isObject)) {
    for (const part of partsIn(candidate)) {
      const { args, name, partialArgs } = objectOf<FunctionCall>(part.functionCall);
      sum += byteLengthOf(part.text) + byteLengthOf(name) + byteLengthOf(args);
      for (const piece of listOf(partialArgs)) sum += byteLengthOf(objectOf<PartialArg>(piece).stringValue);
      sum += byteLengthOf(objectOf<ExecutableCode>(part.executableCode).code);
    }
  }
  return sum;
}

/** UTF-8 bytes of generated text in a complete answer. */
export function responseTextBytes(body: Uint8Array): number {
  return (chunksIn(utf8Text(body)) ?? []).reduce((sum, chunk) => sum + writtenBytes(chunk), 0);
}
