import assert from 'node:assert/strict';
import type { ConversationCodec, StreamCodec } from '../../../src/codecs/codec.ts';
import { codecOf } from '../../../src/codecs/index.ts';
import type { JsonObject } from '../../../src/codecs/json/values.ts';
import type { Codec } from '../../../src/codecs/wire-codec.ts';
import type { WireFormat } from '../../../src/codecs/wire-format.ts';
import type { Target } from '../../../src/combos/routing/resolve.ts';
import { GatewayError } from '../../../src/lib/error.ts';
import { openaiCompatible } from '../../../src/providers/openai-compatible.ts';
import { translateRequest } from '../../../src/proxy/translate/request.ts';

/** A codec of a format that takes part in translation. */
export type Translating = Codec & { conversation: ConversationCodec; stream: StreamCodec };

export function translating(format: WireFormat): Translating {
  const { conversation, stream, ...rest } = codecOf(format);
  assert.ok(conversation !== null && stream !== null, format);
  return { ...rest, conversation, stream };
}

/** A request of one format in another, for a server that departs from it in nothing, and what the other cannot say. */
export function translated(
  request: JsonObject,
  from: Translating,
  to: Translating,
): { dropped: string[]; body: JsonObject } {
  const connection = { id: 'con_plain', name: 'plain' } as Target['connection'];
  const target = { connection, provider: openaiCompatible, model: 'm', format: to.format };
  const asked = { body: [Buffer.from(JSON.stringify(request))], named: null, target };
  const { body, dropped } = translateRequest(asked, from.format);
  return { dropped, body: JSON.parse(Buffer.concat(body).toString()) };
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
