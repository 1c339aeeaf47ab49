import type { Usage } from '../wire-format.ts';

/** What was seen of an answer that passed through, not understood. */
export interface MediaAnswer {
  /** By its content-type: one JSON document, server-sent events, or anything else (audio, subtitles). */
  kind: 'json' | 'events' | 'other';
  /** The first and the last bytes; the same, and all of them, where the answer is short. */
  head: Uint8Array;
  tail: Uint8Array;
  /** How many fields of a name in `MediaCodec.counted` had a text as their value; of JSON only. */
  counted: number;
}

export interface MediaUsage {
  usage: Usage;
  /** True when it was not reported as usage but derived from something else. */
  estimated: boolean;
}

/** A format whose bodies pass through as bytes: pictures and sound. Only its use is read. */
export interface MediaCodec {
  /** What a request may be: JSON, or a form, which is streamed on and never held whole. */
  bodies: readonly ('json' | 'form')[];
  /** Names of fields of an answer, each of which stands for one unit (a picture). */
  counted: readonly string[];
  /** The usage by a JSON request alone, for an answer without usage; null where there is none. */
  usageOfRequest(body: Uint8Array): MediaUsage | null;
  usageOfAnswer(answer: MediaAnswer): MediaUsage | null;
}
