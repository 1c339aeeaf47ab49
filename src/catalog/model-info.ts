import type { WireFormat } from '../codecs/wire-format.ts';
import type { ModelEntry } from './data-set/schema.ts';
import type { PriceRow } from './schema.ts';

export type Modality = 'text' | 'image' | 'audio' | 'video' | 'pdf';

/** What is known of a model at a provider. Null is not known. */
export interface ModelInfo {
  name: string | null;
  /** Tokens. */
  contextWindow: number | null;
  /** Tokens of input at most, where that is less than the window. */
  inputLimit: number | null;
  /** Tokens of output at most. */
  outputLimit: number | null;
  inputModalities: readonly Modality[] | null;
  outputModalities: readonly Modality[] | null;
  reasoning: boolean | null;
  tools: boolean | null;
  structuredOutput: boolean | null;
  /** When it came out: `YYYY-MM-DD` or `YYYY-MM`. */
  released: string | null;
  /** No longer offered to new clients, or about to end. */
  deprecated: boolean;
  /** Not finished yet. */
  stage: 'alpha' | 'beta' | null;
  /** The one format in which its provider serves it; null where it is served in all that the provider speaks. */
  format: WireFormat | null;
}

const modalityOf: Readonly<Record<string, Modality>> = {
  t: 'text',
  i: 'image',
  a: 'audio',
  v: 'video',
  p: 'pdf',
};

/**
 * The price table and the data set together. Name and window are the price table's where it has them, as prices
 * are; a model is deprecated when either says so.
 */
export function modelInfo(row: PriceRow | null, entry: ModelEntry | null): ModelInfo {
  const can = entry?.can ?? null;
  return {
    name: row?.name ?? entry?.name ?? null,
    contextWindow: row?.ctx ?? entry?.ctx ?? null,
    inputLimit: entry?.input ?? null,
    outputLimit: entry?.output ?? null,
    inputModalities: modalities(entry?.in),
    outputModalities: modalities(entry?.out),
    reasoning: can === null ? null : can.includes('r'),
    tools: can === null ? null : can.includes('t'),
    structuredOutput: can === null || entry?.vague === 1 ? null : can.includes('s'),
    released: entry?.released ?? null,
    deprecated: row?.old === 1 || entry?.old === 1,
    stage: entry?.stage ?? null,
    format: entry?.format ?? null,
  };
}

function modalities(letters: string | undefined): Modality[] | null {
  if (letters === undefined) return null;
  return [...letters].flatMap((letter) => modalityOf[letter] ?? []);
}
