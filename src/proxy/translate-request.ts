import { adapt, wordsOf } from '../codecs/adapt.ts';
import type { Codec, ConversationCodec, StreamCodec } from '../codecs/codec.ts';
import { type Concept, concepts } from '../codecs/concept.ts';
import type { Conversation } from '../codecs/conversation.ts';
import { plainDialect } from '../codecs/dialect.ts';
import { codecOf } from '../codecs/index.ts';
import type { WireFormat } from '../codecs/model.ts';
import { hasMember, withoutMember } from '../codecs/optional-members.ts';
import { sealOwner } from '../codecs/seal-owner.ts';
import type { ToolNames } from '../codecs/tool-names.ts';
import { type JsonObject, parseObject } from '../codecs/values.ts';
import type { Target } from '../combos/resolve.ts';
import { GatewayError } from '../lib/error.ts';
import type { Call } from './call.ts';
import { joined } from './meter.ts';
import { conversationOf, echoOf } from './responses-turn.ts';

/** A request in the target's format, and what is needed to bring its answer back. */
export interface TranslatedRequest {
  body: Buffer;
  /** What the target cannot say, in the caller's words. */
  dropped: string[];
  tools: ToolNames;
  /** The caller's request. */
  request: JsonObject;
  stream: boolean;
  includeUsage: boolean;
}

/** The parts of a call that its translation is made from. */
type Asked = Pick<Call, 'body' | 'named' | 'target'> & { turn?: Call['turn'] };

/**
 * Translates a request from the caller's format to the target's.
 * @param refused members that the target is known not to take
 * @throws GatewayError `invalid_json`, `invalid_request`, `not_translatable`
 */
export function translateRequest(
  asked: Asked,
  format: WireFormat,
  refused: readonly string[] = [],
): TranslatedRequest {
  try {
    return translated(asked, format, refused);
  } catch (error) {
    // JSON can be read to any depth and written only as deep as the stack goes.
    if (!(error instanceof RangeError)) throw error;
    throw new GatewayError('invalid_json', 'The request body is nested too deeply to be translated');
  }
}

function translated(
  { body, named, target, turn = null }: Asked,
  format: WireFormat,
  refused: readonly string[],
): TranslatedRequest {
  const sent = parseObject(joined(body).toString('utf8'));
  if (sent === null) throw new GatewayError('invalid_json', 'The request body is not a valid JSON object');
  const request = named === null ? sent : { ...sent, model: named.model, stream: named.stream };
  const from = conversationCodec(format);
  const to = conversationCodec(target.format);
  const dialect = { ...plainDialect, ...target.provider.dialect };
  const read = from.conversation.decodeRequest(request);
  const asked = turn === null ? read : conversationOf(read, turn);
  const { conversation, dropped, tools } = adapt(asked, {
    ...{ from, to, dialect, owner: ownerOf(target) },
    model: target.model,
  });
  const unsaid: Concept[] = [];
  const encoded = to.conversation.encodeRequest({ ...conversation, model: target.model }, dialect, unsaid);
  const left = refused.filter((path) => hasMember(encoded, path));
  const kept = left.reduce(withoutMember, encoded);
  const refusedWords = left.map((path) => wordFor(path, from, to));
  return {
    body: Buffer.from(JSON.stringify(kept)),
    dropped: [...new Set([...dropped, ...wordsFor(unsaid, asked, from), ...refusedWords])].sort(),
    tools,
    request: turn === null ? request : echoOf(request, turn),
    stream: asked.stream,
    includeUsage: asked.includeUsage,
  };
}

/** What the caller calls those of the concepts that were asked for: a default that is not said is not missed. */
function wordsFor(unsaid: readonly Concept[], asked: Conversation, { conversation }: Translating): string[] {
  const words = wordsOf(conversation);
  return unsaid.filter((concept) => concepts[concept].asked(asked)).map((one) => words[one] ?? one);
}

/** What the caller calls a member of the target's request; its own name where the caller has no word for it. */
function wordFor(path: string, from: Translating, to: Translating): string {
  const { names: theirs } = to.conversation;
  const concept = (Object.keys(theirs) as Concept[]).find(
    (one) => theirs[one] === path.replace(/\.effort$/, ''),
  );
  return (concept && from.conversation.names[concept]) ?? path;
}

/** Whose sealed reasoning a target can read. */
export function ownerOf({ connection, model }: Target): string {
  return sealOwner(connection.id, model);
}

export type Translating = Codec & { conversation: ConversationCodec; stream: StreamCodec };

/** The codec of a format that takes part in translation. */
export function conversationCodec(format: WireFormat): Translating {
  const codec = codecOf(format);
  const { conversation, stream } = codec;
  if (conversation === null || stream === null)
    throw new GatewayError('format_not_supported', `${format} is not translated`);
  return { ...codec, conversation, stream };
}
