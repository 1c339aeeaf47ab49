import { vendorMessage } from '../codecs/failures/vendor-message.ts';
import { type JsonObject, parseObject } from '../codecs/json/values.ts';
import { createOutboundAgent } from '../http/outbound/agent.ts';
import { GatewayError } from '../lib/error.ts';
import { FrameBuffer } from '../lib/streams/frame-buffer.ts';
import { splitFrames } from '../lib/streams/sse.ts';
import type { SkillDeps } from './skill.ts';

export interface Completion {
  complete: SkillDeps['complete'];
  close(): Promise<void>;
}

/** An error or a piece of an answer may be so long, in bytes. */
const MAX_ERROR_BYTES = 65_536;
const MAX_FRAME_BYTES = 1_048_576;

/**
 * Asks the gateway's own model endpoint, with the client's key. So it is one request like any other: its key's limits,
 * routing, retries and ledger hold.
 * @param root the gateway's address on this machine
 */
export function createCompletion(root: () => string): Completion {
  const agent = createOutboundAgent();
  return {
    async *complete({ key, messages, model, signal }) {
      const answer = await agent.request(`${root()}/v1/chat/completions`, {
        signal,
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'user-agent': 'modelgate-a2a',
        },
        body: JSON.stringify({
          model,
          stream: true,
          messages: messages.map(({ role, text }) => ({ role, content: text })),
        }),
      });
      if (answer.statusCode !== 200) throw await refusalOf(answer);
      yield* piecesOf(answer.body);
    },
    close: agent.destroy,
  };
}

async function* piecesOf(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const buffer = new FrameBuffer<Uint8Array>(splitFrames);
  for await (const bytes of body) {
    for (const { data } of buffer.push(bytes)) {
      if (data === '[DONE]') return;
      const piece = pieceIn(data);
      if (piece !== '') yield piece;
    }
    if (buffer.length > MAX_FRAME_BYTES)
      throw new GatewayError('upstream_protocol', 'The answer of the model has no end');
  }
}

/** @throws GatewayError for an error that came in the stream */
function pieceIn(data: string): string {
  const chunk = objectOf(data);
  const { error } = chunk;
  if (error !== undefined)
    throw new GatewayError('upstream_error', vendorMessage(error) || 'The model failed');
  const [choice] = (chunk['choices'] ?? []) as { delta?: { content?: unknown } }[];
  return typeof choice?.delta?.content === 'string' ? choice.delta.content : '';
}

async function refusalOf({ body, statusCode }: { body: AsyncIterable<Uint8Array>; statusCode: number }) {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > MAX_ERROR_BYTES) break;
    pieces.push(piece);
  }
  const sentence = vendorMessage(objectOf(Buffer.concat(pieces).toString('utf8')));
  const message = sentence === '' ? `The gateway answered ${statusCode}` : sentence;
  return new GatewayError(statusCode < 500 ? 'invalid_request' : 'upstream_error', message);
}

function objectOf(text: string): JsonObject {
  return parseObject(text) ?? {};
}
