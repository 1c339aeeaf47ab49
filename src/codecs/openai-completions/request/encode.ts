import { shortened } from '../../adapt/tool-names.ts';
import type { JsonObject } from '../../json/values.ts';
import type { Concept, ConceptNames } from '../../model/concept.ts';
import type { Conversation } from '../../model/conversation.ts';
import type { Dialect } from '../../model/dialect.ts';
import { NEXT_TURN, transcript } from './transcript.ts';

/** What the format calls the concepts that it can say. */
export const names: ConceptNames = {
  temperature: 'temperature',
  topP: 'top_p',
  stop: 'stop',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  candidates: 'n',
  logprobs: 'logprobs',
  userId: 'user',
};

export const vendorOnly: readonly Concept[] = [];

/** The vendor takes no more (OpenAI API reference, "Create completion", `stop`). */
const MAX_STOPS = 4;
/** The vendor takes no longer name of a user. */
const MAX_USER_ID = 64;
/** Room for an answer where the client set no bound: the format's own default is 16, and the whole context of its older models 4,096. */
const ROOM = 2_048;

/** A conversation as a completions request: one text, which the model continues. */
export function encodeRequest(
  conversation: Conversation,
  dialect: Dialect,
  unencodable: Concept[] = [],
): JsonObject {
  const { extras, maxOutputTokens, stream, userId } = conversation;
  const stop = conversation.stop.slice(0, MAX_STOPS);
  if (stop.length < conversation.stop.length) unencodable.push('stop');
  const request: JsonObject = {
    model: conversation.model,
    prompt: transcript(conversation),
    max_tokens: maxOutputTokens ?? Math.min(ROOM, dialect.defaultMaxTokens),
    temperature: conversation.temperature,
    top_p: conversation.topP,
    stop: stop.length < MAX_STOPS ? [...stop, NEXT_TURN] : stop,
    seed: conversation.seed,
    frequency_penalty: conversation.frequencyPenalty,
    presence_penalty: conversation.presencePenalty,
    n: conversation.candidates,
    logprobs: conversation.logprobs,
    user: userId === null ? null : shortened(userId, userId, MAX_USER_ID),
    stream: stream ? true : null,
    // The gateway needs the usage, even where the client did not request it.
    stream_options: stream ? { include_usage: true } : null,
    ...(extras?.format === 'openai-completions' ? extras.fields : {}),
  };
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null));
}
