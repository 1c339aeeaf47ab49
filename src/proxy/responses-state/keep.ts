import { isObject, type JsonObject, listOf, parseObject, textOf } from '../../codecs/json/values.ts';
import { GatewayError } from '../../lib/error.ts';
import { splitFrames } from '../../lib/sse.ts';
import { inputItems, withIds } from '../../responses/continued.ts';
import type { ResponseMemory } from '../../responses/stored.ts';
import { namedAnswer } from '../answer/model.ts';
import type { Call } from '../dispatch/call.ts';
import { joined } from '../metering/meter.ts';

type Asked = Pick<Call, 'body' | 'target' | 'translated' | 'turn'>;

/**
 * Whether the gateway is to keep the answer of a call, and so needs its request until the end: those of the responses
 * format, unless the provider keeps it or the caller does not want it kept.
 */
export function isKept({ body, target, translated, turn }: Asked): boolean {
  if (turn === null || turn.compaction === 'endpoint') return false;
  if (translated !== null) return translated.request['store'] !== false;
  return target.provider.keepsResponses !== true && wantsItKept(body);
}

/** Whether a request that is not read leaves it to others to keep its answer. */
export function wantsItKept(body: readonly Buffer[]): boolean {
  return !refusals.some((said) => body.some((piece) => piece.includes(said)));
}

/**
 * How clients write that nothing is to be kept. Inside a text the quotes would be escaped; in an object inside the
 * request the same words keep an answer from being kept, which is the safer mistake.
 */
const refusals = ['"store":false', '"store": false'].map((text) => Buffer.from(text));

/** Keeps what a call of the responses format was answered, where that is the gateway's to do. */
export function keepAnswer(
  memory: Pick<ResponseMemory, 'put'>,
  call: Call,
  read: () => JsonObject | null,
): void {
  if (!isKept(call)) return;
  const request = call.translated?.request ?? parseObject(joined(call.body).toString('utf8'));
  const response = request === null || request['store'] === false ? null : read();
  if (request === null || response === null) return;
  try {
    keep(memory, call, request, response);
  } catch (error) {
    // An upstream may take an input that is no list of items; JSON may be too deep to be written once more.
    if (!(error instanceof GatewayError) && !(error instanceof RangeError)) throw error;
  }
}

function keep(
  memory: Pick<ResponseMemory, 'put'>,
  { codec, exchange, requestedModel, target, turn }: Call,
  request: JsonObject,
  response: JsonObject,
): void {
  const id = textOf(response['id']);
  const done = response['status'] === 'completed' || response['status'] === 'incomplete';
  // Some upstreams do not repeat their output in the last event: to go on from nothing would be worse than not to.
  const empty = listOf(response['output']).length === 0;
  if (turn === null || id === '' || !done || empty) return;
  memory.put({
    id,
    createdAt: exchange.startedAt,
    keyId: turn.keyId,
    connectionId: target.connection.id,
    model: requestedModel,
    previousId: turn.previousId,
    input: withIds(turn.input ?? inputItems(request['input']), id),
    response: namedAnswer(codec, response, requestedModel),
  });
}

const terminal = /"response\.(?:completed|incomplete)"/;

/** The response in the terminal event at the end of a stream; null when it is not there, or not there in full. */
export function finalResponse(frames: string): JsonObject | null {
  const last = splitFrames(Buffer.from(frames)).frames.findLast(
    ({ data, event }) => terminal.test(`"${event}"`) || (event === '' && terminal.test(data)),
  );
  const response = last === undefined ? null : parseObject(last.data)?.['response'];
  return isObject(response) ? response : null;
}
