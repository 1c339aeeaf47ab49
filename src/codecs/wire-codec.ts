import type { GatewayError } from '../lib/error.ts';
import type { ConversationCodec, StreamCodec, TranslationCodec } from './codec.ts';
import type { ExchangeShape } from './exchanges/shape.ts';
import type { HistoryCodec } from './history/history.ts';
import type { JsonObject } from './json/values.ts';
import type { MediaCodec } from './passthrough/media.ts';
import type { RequestFields } from './request-fields.ts';
import type { Counting } from './usage/counting.ts';
import type { ReadFinishReason } from './usage/finish-bytes.ts';
import type { Usage, WireFormat } from './wire-format.ts';

/** One wire format; what translation needs of it is `TranslationCodec`. Pure: no I/O, no clock, no state. */
export interface Codec {
  format: WireFormat;
  /** Where clients send its requests, below `/v1`; null for a format whose paths are of another kind (`routes.ts`). */
  path: string | null;
  pathOf: TranslationCodec['pathOf'];
  requestFields: RequestFields;
  /** What of earlier turns other vendors made; absent where nothing of them is encrypted. */
  history?: HistoryCodec;
  /** For a format whose requests repeat a conversation turn by turn: where a tool call and its result begin and end. */
  exchange?: ExchangeShape;
  /** How its API counts the tokens of a request ahead; absent where it does not. */
  counting?: Counting;
  stream: StreamCodec | null;
  /** `gen_ai.operation.name` in OpenTelemetry's conventions for generative AI; another than theirs is a name of our own. Default: `chat`. */
  operation?: string;
  /** The path in a form that names neither model nor key, for a format whose `path` is null: of a whole answer, and of a stream. */
  pathTemplate?: { whole: string; stream: string };
  /** What an answer that is no text is expected to use, so that budgets can reserve it. Absent for texts. */
  usualUsage?: Partial<Usage>;
  /** The smallest request, without its model, to see whether an upstream answers at all; absent where none is small. */
  smallestRequest?: JsonObject;
  /** Parameters of a request's query that belong to the format's API; all others stay at the gateway. */
  queryParameters?: readonly string[];
  /** Null until the format takes part in translation. */
  conversation: ConversationCodec | null;
  /** The field of a whole answer that names the model; null where none does. */
  answerModel: string | null;
  /** For a format whose bodies pass through as bytes. */
  media?: MediaCodec;
  /** Usage of a complete non-streamed body, without parsing more than its usage object. Null when it reports none. */
  readUsage(body: Uint8Array): Usage | null;
  /**
   * The service tier that an answer names, normalized by `tierWord`; null if it names none. `head` and `tail` are its
   * first and last bytes, which are the same for a complete body. Absent for a format without tiers.
   */
  readTier?(head: Uint8Array, tail: Uint8Array, kind: 'body' | 'stream'): string | null;
  /** Why an answer that passes unread has ended, from its last bytes; absent for a format whose answers do not say. */
  readFinishReason?: ReadFinishReason;
  /** UTF-8 bytes of generated text in a complete body, for an estimate when usage is missing. */
  responseTextBytes(body: Uint8Array): number;
  /**
   * The body of an HTTP error of an upstream as the format's clients read it: the same object where nothing has to change,
   * null where it is none of the format.
   */
  errorBody(json: JsonObject): JsonObject | null;
  /** The body of an HTTP error in this dialect. */
  encodeError(error: GatewayError, requestId: string): Record<string, unknown>;
}
