import { fieldNeedle, lastIndexOfNeedle, type Needle } from '../json/needle.ts';
import type { FinishReason } from '../model/finish-reason.ts';
import type { EndReason } from '../model/stream-part.ts';
import { lastTextField } from './text-field.ts';

/** Where answers of a format say why they ended. */
export interface FinishPlace {
  /** The name of the field. */
  field: string;
  /** How many containers may enclose it; tool input is deeper. */
  maxDepth: Readonly<Record<'body' | 'stream', number>>;
  meaningOf(raw: string): EndReason;
  /** The field or type that every tool call has, for a format that has no word of its own for an end in calls. */
  call?: string;
}

/** Reads why an answer ended from its last bytes; null where they do not say. */
export type ReadFinishReason = (tail: Uint8Array, kind: 'body' | 'stream') => FinishReason | null;

export function finishReader({ call, field, maxDepth, meaningOf }: FinishPlace): ReadFinishReason {
  const key = fieldNeedle(field);
  const callKey = call === undefined ? null : fieldNeedle(call);
  return (tail, kind) => {
    const raw = lastTextField(tail, { key, kind, maxDepth: maxDepth[kind] }, notEmpty);
    if (raw === null) return null;
    const meaning = meaningOf(raw);
    return { meaning: meaning === 'stop' && holds(tail, callKey) ? 'tool-calls' : meaning, raw };
  };
}

/** Whether a name stands in the bytes outside of generated text, whose quotes are escaped. */
export function holds(bytes: Uint8Array, key: Needle | null): boolean {
  return key !== null && lastIndexOfNeedle(bytes, key) !== -1;
}

export function notEmpty(text: string): string | null {
  return text === '' ? null : text;
}
