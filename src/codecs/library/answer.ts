import { utf8Length } from '../../lib/bytes.ts';
import type { PartReader, PartWriter } from '../model/stream-part.ts';
import { clientParts } from '../translate/answer.ts';
import { noUsage, type Usage } from '../wire-format.ts';
import type { AnswerOptions } from './answer-options.ts';
import type { KeptRequest } from './kept-request.ts';

/** Characters of text that one token is, about. */
const CHARACTERS_PER_TOKEN = 4;

/** The upstream's frames as the parts that the client is to get. */
export function partsFor(request: KeptRequest): PartReader {
  return clientParts({ ...request, codec: request.upstream });
}

/**
 * Writes parts as frames of the client's format, with the usage that was reported, at the beginning or at the end.
 * @param isStream whether the client gets them one by one
 */
export function framesFor(
  { characters, client, includeUsage, model, request }: KeptRequest,
  { id = crypto.randomUUID?.() ?? '1', startedAt = Date.now() }: AnswerOptions,
  isStream: boolean,
): PartWriter & { usage(): Usage | null } {
  const inputTokens = () => Math.ceil(characters / CHARACTERS_PER_TOKEN);
  const writer = client.conversation.writer({
    id: id.replaceAll('-', ''),
    model,
    startedAt,
    includeUsage,
    request,
    ...(isStream ? { inputTokens } : {}),
  });
  let usage: Usage | null = null;
  let written = 0;
  return {
    usage: () => usage,
    push(part) {
      if ('text' in part) written += utf8Length(part.text);
      if ((part.type === 'message-start' || part.type === 'message-end') && part.usage !== null)
        usage = part.usage;
      if (part.type !== 'message-end') return writer.push(part);
      // Clients expect a count: this is the gateway's estimate.
      const output = Math.ceil(written / CHARACTERS_PER_TOKEN);
      return writer.push({ ...part, usage: usage ?? { ...noUsage, input: inputTokens(), output } });
    },
  };
}
