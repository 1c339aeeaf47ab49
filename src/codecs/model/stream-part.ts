import type { Frame } from '../../lib/streams/sse.ts';
import type { JsonObject } from '../json/values.ts';
import type { Usage, WireFormat } from '../wire-format.ts';
import type { EncryptedReasoning, Search, Source } from './conversation.ts';

/** A failure that an upstream reported inside a stream or body. */
export interface ReportedError {
  /** The HTTP status that this failure deserves, e.g. 529 for Anthropic's `overloaded_error`. */
  status: number;
  message: string;
}

/**
 * An answer as it comes, in no vendor's words. `block` numbers the pieces of the answer from 0 in order of their
 * start; every started block ends once, before `message-end`. Several blocks may be open at a time: a format that
 * allows one only buffers the others. A whole answer is the same parts at once.
 */
export type StreamPart =
  | {
      type: 'message-start';
      id: string;
      model: string;
      usage: Usage | null;
      /** As that of `message-end`, for an answer that breaks off. */
      tier?: string;
    }
  | { type: 'text-start'; block: number }
  | { type: 'text-delta'; block: number; text: string }
  | { type: 'text-end'; block: number }
  | { type: 'refusal-start'; block: number }
  | { type: 'refusal-delta'; block: number; text: string }
  | { type: 'refusal-end'; block: number }
  /** `summary`: what the vendor wrote about the reasoning, not the reasoning itself. */
  | { type: 'reasoning-start'; block: number; summary: boolean }
  | { type: 'reasoning-delta'; block: number; text: string }
  | { type: 'reasoning-end'; block: number; encrypted: EncryptedReasoning | null }
  | {
      type: 'tool-call-start';
      block: number;
      id: string;
      name: string;
      kind: 'function' | 'custom';
      namespace?: string;
    }
  | { type: 'tool-call-delta'; block: number; text: string }
  /** `complete` is false when the answer was cut off inside the call. */
  | { type: 'tool-call-end'; block: number; complete: boolean }
  /** Belongs to an open text block, or to the last one. */
  | { type: 'citation'; block: number; citation: Citation }
  /** Told when it is over. */
  | { type: 'search'; block: number; search: Search }
  /** A picture that the model made. */
  | { type: 'image'; block: number; source: ImageSource }
  /**
   * A block or item that one format alone has. `words`: what it says to clients of others; null for what is none of
   * their business.
   */
  | {
      type: 'native';
      block: number;
      format: WireFormat;
      name: string;
      value: JsonObject;
      words: string | null;
    }
  | {
      type: 'message-end';
      reason: EndReason;
      /** The word that the upstream has for it, as it came; null where it said none. */
      rawFinishReason: string | null;
      stopSequence: string | null;
      usage: Usage | null;
      /** The vendor's tier that served it (`tier.ts`), where the answer says so. */
      tier?: string;
    }
  /** Ends the answer, in place of `message-end`. */
  | { type: 'error'; error: ReportedError };

/** Why an answer ended (the stop reasons of all formats). */
export type EndReason =
  | 'stop'
  | 'stop-sequence'
  | 'length'
  | 'tool-calls'
  | 'context-full'
  | 'policy'
  | 'paused'
  | 'other';

/** Bytes or an address: a file that was uploaded is known to its vendor alone. */
export type ImageSource = Exclude<Source, { kind: 'file' }>;

export interface Citation {
  url: string | null;
  title: string | null;
  /** The passage of the source that is cited. */
  text: string | null;
  /** Characters (UTF-16) of the block's text that it supports; null where the format does not say. */
  start: number | null;
  end: number | null;
  /** As it came, for its own format. */
  native: { format: WireFormat; value: JsonObject };
}

/** Reads the frames of one upstream stream. Keeps state; made anew for every stream. */
export interface PartReader {
  /** The parts that a frame brings. Unknown frames bring none. Never throws. */
  push(frame: { event: string; data: string }): StreamPart[];
  /** What the end of the stream brings: nothing after a complete stream, an error part after a cut one. */
  end(): StreamPart[];
}

/** Writes one stream for a client. Keeps state; made anew for every stream. */
export interface PartWriter {
  /** The frames for a part. */
  push(part: StreamPart): Frame[];
}

/** What a writer needs from the request that it answers. */
export interface AnswerContext {
  /** The gateway's id for this request; ids in the answer are made from it where the upstream has none. */
  id: string;
  /** The id that the answer has already, where another wrote its beginning. */
  answerId?: string;
  /** The model as the client named it. */
  model: string;
  /** When the request began, in milliseconds since the epoch. */
  startedAt: number;
  includeUsage: boolean;
  /** The client's request, for formats that echo it. */
  request: JsonObject;
  /**
   * Estimated tokens of the request, for a format that reports them before the upstream does; absent where an answer
   * comes whole.
   */
  inputTokens?(): number;
}
