import { onlyAllowedCalls } from '../adapt/allowed-tools.ts';
import { wholeCharacters } from '../adapt/join-surrogates.ts';
import { onlyFirstCall } from '../adapt/one-call.ts';
import { restoreTools } from '../adapt/restore.ts';
import type { TranslationCodec } from '../codec.ts';
import { withReasoningOwner } from '../encrypted-reasoning/owner.ts';
import { errorInAnswer } from '../failures/error-in-answer.ts';
import { isObject, type JsonObject } from '../json/values.ts';
import type { PartReader } from '../model/stream-part.ts';
import type { RequestTranslation } from './request.ts';

/** An answer to be read, and the parts of its request that it depends on. */
export interface AnswerRoute extends Pick<RequestTranslation, 'tools' | 'oneCall' | 'allowedTools'> {
  /** The format in which it comes. */
  codec: Pick<TranslationCodec, 'conversation'>;
  /** Whose encrypted reasoning it brings; null where that is noted on none. */
  owner: string | null;
}

/** Reads an upstream's frames into the parts that the client is to get: every stage between its format and the client's. */
export function clientParts({ allowedTools, codec, oneCall, owner, tools }: AnswerRoute): PartReader {
  const restored = restoreTools(wholeCharacters(codec.conversation.reader()), tools);
  const owned = owner === null ? restored : withReasoningOwner(restored, owner);
  const allowed = allowedTools === null ? owned : onlyAllowedCalls(owned, new Set(allowedTools));
  return oneCall ? onlyFirstCall(allowed) : allowed;
}

/** Whether a whole answer reports a failure: an object, a string as Ollama writes it, or a vendor's own fields. */
export function reportsError(body: JsonObject): boolean {
  const { error } = body;
  return isObject(error) || (typeof error === 'string' && error !== '') || errorInAnswer(body) !== null;
}
