import assert from 'node:assert/strict';
import { adapt } from '../../src/codecs/adapt.ts';
import type { Codec, ConversationCodec, StreamCodec } from '../../src/codecs/codec.ts';
import { plainDialect } from '../../src/codecs/dialect.ts';
import { codecOf } from '../../src/codecs/index.ts';
import type { WireFormat } from '../../src/codecs/model.ts';
import type { JsonObject } from '../../src/codecs/values.ts';
import { GatewayError } from '../../src/lib/error.ts';

/** A codec of a format that takes part in translation. */
export type Translating = Codec & { conversation: ConversationCodec; stream: StreamCodec };

export function translating(format: WireFormat): Translating {
  const { conversation, stream, ...rest } = codecOf(format);
  assert.ok(conversation !== null && stream !== null, format);
  return { ...rest, conversation, stream };
}

/** A request of one format in another, and what the other cannot say. */
export function translated(body: JsonObject, from: Translating, to: Translating) {
  const asked = from.conversation.decodeRequest(body);
  const route = { from, to, dialect: plainDialect, owner: null, model: 'm' };
  const { conversation, dropped } = adapt(asked, route);
  return { dropped, body: to.conversation.encodeRequest(conversation, plainDialect) };
}

/** The code and the member that a refusal names; null when nothing is refused. */
export function refused(attempt: () => unknown): [string, string | null] | null {
  try {
    attempt();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    return [error.code, error.param];
  }
  return null;
}
