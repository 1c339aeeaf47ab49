import type { GatewayError } from '../lib/error.ts';
import type { Frame, FrameSplit } from '../lib/streams/sse.ts';
import type { SharedSettings, WrittenTools } from './adapt/shared-tools.ts';
import type { Readable } from './json/read-fields.ts';
import type { JsonObject } from './json/values.ts';
import type { Concept, ConceptNames, ConceptWords } from './model/concept.ts';
import type { Conversation } from './model/conversation.ts';
import type { Dialect } from './model/dialect.ts';
import type { AnswerContext, PartReader, PartWriter, ReportedError } from './model/stream-part.ts';
import type { RequestFields } from './request-fields.ts';
import type { Usage, WireFormat } from './wire-format.ts';

export type { ReportedError } from './model/stream-part.ts';

/**
 * What one frame of a healthy or failing stream means.
 * `preamble` commits the gateway to nothing (role chunk, `message_start`, `response.created`, ping);
 * `content` is the first thing a client can act on; `error` is a failure inside HTTP 200;
 * `end` is the frame that the format requires of a finished stream.
 */
export type FrameMeaning = 'preamble' | 'content' | 'error' | 'end';

/** What the first and last bytes of a stream say about it. */
export interface StreamFacts {
  usage: Usage | null;
  /** `complete`: the terminal event was seen. `error`: an in-band error was. `cut`: neither. */
  end: 'complete' | 'error' | 'cut';
  error: ReportedError | null;
}

/** How a stream ends that failed after content: with an error event before the reset of its connection, or with that alone. */
export type BrokenEnding = 'error-frame' | 'reset';

/** How answers of a format are framed, in a stream and whole: what translation needs of it. */
export interface AnswerFraming {
  /** The `content-type` of a stream. */
  contentType: string;
  /** `lines`: one JSON object a line. A whole answer then looks like a stream of one frame, and what was asked for decides. */
  framing: 'sse' | 'lines';
  /** The complete frames in `bytes`, and what follows the last of them. A blank line completes any frame. */
  split<B extends Uint8Array>(bytes: B): FrameSplit<B>;
  /** Frames, ready for the wire. */
  encode(frames: readonly Frame[]): string;
  /** What a request that does not say `stream` gets. */
  byDefault: boolean;
  /** The failure in a frame that `classify` called `error`. */
  readError(frame: Frame): ReportedError;
  /** The terminal frame that reports `error` inside a stream that already began. */
  encodeErrorFrame(error: GatewayError, requestId: string): string;
  /**
   * The end of a broken stream from which the format's clients recover best
   * (docs/decisions/0004-how-a-broken-stream-ends.md). `cut`: the upstream broke off, or was silent for too long.
   * `reported`: it reported a failure in another format, whose message would be lost.
   */
  endings: { cut: BrokenEnding; reported: BrokenEnding };
  /** A complete non-streamed answer as the frames of a stream. */
  framesOf(response: Record<string, unknown>): Frame[];
  /**
   * A complete stream as the non-streamed answer (for an upstream that streamed without a request for it). Null when
   * it cannot be assembled.
   */
  assemble(frames: Frame[]): Record<string, unknown> | null;
}

/** How streams of a format are relayed: read as little as possible. */
export interface StreamCodec extends AnswerFraming {
  classify(frame: Frame): FrameMeaning;
  /**
   * Facts of a stream from its first and last bytes. `head` may end, and `tail` may begin, inside a frame;
   * the two may overlap or be the same bytes.
   */
  readStream(head: Uint8Array, tail: Uint8Array): StreamFacts;
  /** UTF-8 bytes of generated text, arguments and reasoning in the complete frames of `bytes`. */
  textBytes(bytes: Uint8Array): number;
  /** One frame, ready for the wire, that a silent stream may carry between two events; null where none is allowed. */
  keepAlive: string | null;
  /** Where frames name the model: the fields that lead to it, the outermost first, and whether only one frame has them. */
  modelAt: { path: readonly string[]; once: boolean };
  /** `framesOf`, ready for the wire (for an upstream that ignored `stream: true`). */
  encodeFramesOf(response: Record<string, unknown>): string;
}

/**
 * The halves that translate one format from and to the neutral model. `decodeRequest(encodeRequest(x))` is x, for
 * every x that the format can say; what it cannot is taken out before (`adapt.ts`).
 */
export interface ConversationCodec {
  /**
   * @param shared keeps the tools that were read, for other requests that offer the same ones; null for none
   * @throws GatewayError `invalid_request` that names the field at fault in `param`
   */
  decodeRequest(body: JsonObject, shared?: SharedSettings | null): Conversation;
  /**
   * The request body. The same conversation gives the same bytes, so that the vendor's prompt cache keeps hitting.
   * @param unsaid gets what the format has a word for and the rest of this conversation rules out
   * @param written what tools were written as before, for other requests that offer the same ones; null for none
   */
  encodeRequest(
    conversation: Conversation,
    dialect: Dialect,
    unencodable?: Concept[],
    written?: WrittenTools | null,
  ): JsonObject;
  /** How many cache marks a request may have; any number if absent. */
  mostCacheMarks?: number;
  /**
   * The encoded request with marks of what the vendor shall keep in its prompt cache, where the client set none; absent
   * where no vendor behind the format needs any.
   * @param shared the client says that other requests begin alike (`Conversation.cacheKey`)
   */
  markCache?(request: JsonObject, shared: boolean, dialect: Dialect): JsonObject;
  /** Turns of the user at whose ends `markCache` sets marks, at most; 0 where it sets none. It sets none in a short request. */
  markedTurns?(model: string, dialect: Dialect): number;
  reader(): PartReader;
  writer(context: AnswerContext): PartWriter;
  names: ConceptNames;
  /** Further fields that its clients may send: they are read, and never written. */
  acceptedOnly?: ConceptNames;
  /** Other field names that requests use for the same concepts. */
  otherWords?: ConceptWords;
  /** What `decodeRequest` reads inside the request's own fields; all the rest is named. */
  readable: Readable;
  /** The spelling in `readable` of a field that may be written in several ways. */
  spelling?(name: string): string;
  /** Whether an encoded request has a turn of the user that the client did not write; absent where none is put in. */
  addsTurn?(request: JsonObject): boolean;
  /** Those of them that only the format's own vendor is sure to support (`dialect.vendorFields`). */
  vendorOnly: readonly Concept[];
  /** Those that only some servers of the format support and are sent on trial (`dialect.cacheFields`). */
  onTrial?: readonly Concept[];
  /** What models of this name refuse although the format has a word for it. */
  unsupportedBy?(model: string): readonly Concept[];
  /** Whether searches of earlier turns can be expressed as such, also those of other models. */
  searchCalls: boolean;
  /** Whether an answer of an earlier turn can hold pictures. */
  answerImages: boolean;
  /** Whether the model continues a last message of the assistant. `dialect`: that differs between servers. */
  prefill: boolean | 'dialect';
  /** The encoded request with what else has to fit below its bound, which was lowered to `most`; absent where nothing has to. */
  fitOutputCap?(request: JsonObject, most: number): JsonObject;
  /** Which half passes texts on without looking into them; absent where neither does. */
  opaqueText?: 'read' | 'written';
  /** Whether the format has custom tools and groups of tools; otherwise they are carried as plain functions. */
  tools: { custom: boolean; namespaces: boolean; name: RegExp; maxName: number };
}

/** The half of a codec that translates: what `modelgate/codecs` is made of. */
export interface TranslationCodec {
  format: WireFormat;
  /**
   * Null if the body contains the model and whether to stream. Otherwise the end of the path that contains them; then
   * the fields `model` and `stream` are added to the body that `decodeRequest` gets.
   */
  pathOf: ((model: string, stream: boolean) => string) | null;
  conversation: ConversationCodec;
  requestFields: RequestFields;
  stream: AnswerFraming;
}
