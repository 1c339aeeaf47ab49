import { COMMA, QUOTE, skipSpace, stringEnd } from '../../codecs/json/bytes.ts';
import { scanValue } from '../../codecs/json/scan.ts';
import { type JsonObject, parseObject, table, textOf } from '../../codecs/json/values.ts';
import { flagAt, textAt, wrong } from '../../codecs/json/wire-check.ts';
import { GatewayError } from '../../lib/error.ts';

/** A request of the responses format that came as a message of a WebSocket. */
export interface Created {
  /** The same request as the body of a POST: every byte as it came, but for the members of the transport. */
  body: Buffer;
  request: JsonObject;
  /** `stream_id`: requests of one name run in order, those of several beside each other. Null for the unnamed. */
  lane: string | null;
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

const LANE = /^[\w.-]{1,256}$/;
/** As deep as the bodies of other requests may be. */
const MAX_DEPTH = 1_000;

/**
 * Reads one message; null for one that asks for nothing.
 * @throws GatewayError `invalid_json`, `invalid_request`
 */
export function readMessage(bytes: Buffer): Created | null {
  const message = parseObject(bytes.toString('utf8'));
  if (message === null)
    throw new GatewayError(
      'invalid_json',
      'The message is not a JSON object: send {"type":"response.create", …}',
    );
  const type = textOf(message['type']);
  if (acknowledgements[type] === true) return null;
  if (type !== 'response.create') throw wrong('type', '"response.create"');
  const lane = textAt(message, 'stream_id');
  if (lane !== null && !LANE.test(lane))
    throw wrong('stream_id', '1 to 256 letters, digits, underscores, hyphens and periods');
  const warmUp = flagAt(message, 'generate') === false;
  const { type: _, stream_id: __, generate: ___, stream: ____, ...request } = message;
  return { body: bodyOf(bytes), request, lane, warmUp };
}

/** The bytes of a JSON object without the transport's members, and with the wish for a stream. */
function bodyOf(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [Buffer.from('{"stream":true')];
  let index = skipSpace(bytes, 0);
  do {
    const start = skipSpace(bytes, index + 1);
    const keyEnd = bytes[start] === QUOTE ? stringEnd(bytes, start) : -1;
    if (keyEnd === -1) break;
    const value = scanValue(bytes, skipSpace(bytes, skipSpace(bytes, keyEnd) + 1), MAX_DEPTH);
    if (!value.ok) throw new GatewayError('invalid_json', 'The message is nested too deeply, or not UTF-8');
    const name: unknown = JSON.parse(bytes.toString('utf8', start, keyEnd));
    if (transport[textOf(name)] !== true) pieces.push(COMMA_BYTES, bytes.subarray(start, value.end));
    index = skipSpace(bytes, value.end);
  } while (bytes[index] === COMMA);
  pieces.push(CLOSE_BYTES);
  return Buffer.concat(pieces);
}

const COMMA_BYTES = Buffer.from(',');
const CLOSE_BYTES = Buffer.from('}');
