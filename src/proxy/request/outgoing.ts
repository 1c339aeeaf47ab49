import type { AnswerPrefix } from '../../codecs/adapt/continuation.ts';
import type { JsonObject } from '../../codecs/json/values.ts';
import type { PartWriter } from '../../codecs/model/stream-part.ts';
import type { RequestTranslation } from '../../codecs/translate/request.ts';
import type { Target } from '../../combos/target.ts';
import type { GatewayError } from '../../lib/error.ts';
import type { PriorUsage } from './answer-usage.ts';

/** A streamed answer that broke off after its first words, while another target can still continue it. */
export interface PartialAnswer {
  /** Has written all that the client has. */
  readonly writer: PartWriter;
  readonly prefix: AnswerPrefix;
  /** Why it broke off. */
  readonly error: GatewayError;
  /** What the client is sent before the reset when no target continues it; null for nothing. */
  readonly ending: Buffer | null;
}

/** What is needed to bring the answer to a translated request back. */
export interface RequestInFormat extends Omit<RequestTranslation, 'body' | 'conversation'> {
  /** The client's request; of formats whose answers do not repeat it without its turns and tools. */
  readonly request: JsonObject;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Whether another target could continue its answer. */
  readonly continuable: boolean;
}

/** A request as one attempt sends it. Another attempt, or the same without something, is another value. */
export interface OutgoingRequest {
  readonly target: Target;
  /** Which attempt of the request it is, counted from 1. */
  readonly attempt: number;
  /** The client's own bytes, which it was made from; where they are relayed with the target's name for the model. */
  readonly clientBody: readonly Buffer[];
  /** The bytes that are sent. */
  readonly body: readonly Buffer[];
  /** What stands behind the path of the target's format: a model, a query; '' for nothing. */
  readonly pathEnd: string;
  /** What the target is not sent, by the client's names; shown as `x-gateway-dropped`. */
  readonly dropped: readonly string[];
  /** Null where the target takes the client's own format. */
  readonly translation: RequestInFormat | null;
  /** The answer that broke off and that the target continues; null for a new one. */
  readonly partial: PartialAnswer | null;
  /** What that has used up to then. */
  readonly priorUsage: PriorUsage | null;
  /** The most that the target said it would write for this very request; null where it did not. */
  readonly outputCap: number | null;
  /** What is encrypted for others was left out, or words for reasoning were put in. */
  readonly reasoningStripped: boolean;
}

const nothing: readonly Buffer[] = [];

/** The same without its bytes: what an answer needs of its request once that cannot be sent any more. */
export function withoutBytes(request: OutgoingRequest): OutgoingRequest {
  return { ...request, clientBody: nothing, body: nothing };
}
