import { skipSpace } from '../../codecs/json/bytes.ts';
import { JsonCursor } from '../../codecs/json/cursor.ts';
import { type JsonObject, parseObject, table, textOf } from '../../codecs/json/values.ts';
import { flagAt, textAt, wrong } from '../../codecs/json/wire-check.ts';
import { GatewayError } from '../../lib/error.ts';

/** A request of the responses format that came as a message of a WebSocket. */
export interface CreateMessage {
  /** The same request as the body of a POST: every byte as it came, but for the fields of the transport. */
  body: Buffer;
  request: JsonObject;
  /** `stream_id`: requests of one name run in order, those of several beside each other. Null for the unnamed. */
  streamId: string | null;
  /** `generate: false`: nothing is to be generated, only the input remembered. */
  warmUp: boolean;
}

/** What belongs to a message and not to the request in it (OpenAI, WebSocket mode). An answer is always streamed. */
const transport: Readonly<Record<string, true>> = table({
  type: true,
  stream_id: true,
  generate: true,
  stream: true,
});

/** Told by clients that need no answer: Codex says so of every response that it has dealt with. */
const acknowledgements: Readonly<Record<string, true>> = table({ 'response.processed': true });

const STREAM_ID = /^[\w.-]{1,256}$/;

/**
 * Reads one message; null for one that asks for nothing.
 * @throws GatewayError `invalid_json`, `invalid_request`
 */
export function readMessage(bytes: Buffer): CreateMessage | null {
  const message = parseObject(bytes.toString('utf8'));
  if (message === null)
    throw new GatewayError(
      'invalid_json',
      'The message is not a JSON object: send {"type":"response.create", …}',
    );
  const type = textOf(message['type']);
  if (acknowledgements[type] === true) return null;
  if (type !== 'response.create') throw wrong('type', '"response.create"');
  const streamId = textAt(message, 'stream_id');
  if (streamId !== null && !STREAM_ID.test(streamId))
    throw wrong('stream_id', '1 to 256 letters, digits, underscores, hyphens and periods');
  const warmUp = flagAt(message, 'generate') === false;
  const { type: _, stream_id: __, generate: ___, stream: ____, ...request } = message;
  return { body: bodyOf(bytes), request, streamId, warmUp };
}

/** The bytes of a JSON object without the transport's fields, and with the wish for a stream. */
function bodyOf(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [Buffer.from('{"stream":true')];
  const cursor = new JsonCursor(bytes, skipSpace(bytes, 0));
  while (cursor.next()) {
    const end = cursor.end();
    if (end === -1) break;
    const name = cursor.name();
    if (name === null || transport[name] !== true) pieces.push(COMMA, bytes.subarray(cursor.nameStart, end));
  }
  if (cursor.fault !== null)
    throw new GatewayError('invalid_json', 'The message is nested too deeply, or not UTF-8');
  pieces.push(CLOSE);
  return Buffer.concat(pieces);
}

const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');
