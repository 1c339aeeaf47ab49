import { isObject, type JsonObject, listOf, parseObject, textOf } from '../../codecs/json/values.ts';
import { GatewayError } from '../../lib/error.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import { inputItems, withIds } from '../../responses/continuation.ts';
import type { ResponseMemory } from '../../responses/stored.ts';
import { namedAnswer } from '../answer/model.ts';
import { joined } from '../json/joined.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { ResponseToStore } from '../request/outcome.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';

/**
 * Whether the gateway is to keep the answer to a request, and so needs its request until the end: those of the responses
 * format, unless the provider keeps it or the client sets `store` to false.
 */
export function shouldKeep(
  { responseState }: Pick<RequestFacts, 'responseState'>,
  { clientBody, target, translation }: Pick<OutgoingRequest, 'clientBody' | 'target' | 'translation'>,
): boolean {
  if (responseState === null || responseState.compaction === 'endpoint') return false;
  if (translation !== null) return translation.request['store'] !== false;
  return target.provider.keepsResponses !== true && wantsStorage(clientBody);
}

/** Whether a request that is not read leaves it to others to keep its answer. */
export function wantsStorage(body: readonly Buffer[]): boolean {
  return !refusals.some((pattern) => body.some((piece) => piece.includes(pattern)));
}

/**
 * How clients write that nothing is to be kept. Inside a text the quotes would be escaped; in an object inside the
 * request the same words keep an answer from being kept, which is the safer mistake.
 */
const refusals = ['"store":false', '"store": false'].map((text) => Buffer.from(text));

/** Keeps what a request of the responses format was answered, where that is to be kept (`isKept`). */
export function keepAnswer(
  memory: Pick<ResponseMemory, 'put'>,
  facts: RequestFacts,
  { read, request: outgoing }: ResponseToStore,
): void {
  const request = outgoing.translation?.request ?? parseObject(joined(outgoing.clientBody).toString('utf8'));
  const response = request === null || request['store'] === false ? null : read();
  if (request === null || response === null) return;
  try {
    keep(memory, facts, { connectionId: outgoing.target.connection.id, request, response });
  } catch (error) {
    // An upstream may take an input that is no list of items; JSON may be too deep to be written once more.
    if (!(error instanceof GatewayError) && !(error instanceof RangeError)) throw error;
  }
}

function keep(
  memory: Pick<ResponseMemory, 'put'>,
  { codec, exchange, requestedModel, responseState }: RequestFacts,
  { connectionId, request, response }: { connectionId: string; request: JsonObject; response: JsonObject },
): void {
  const id = textOf(response['id']);
  const done = response['status'] === 'completed' || response['status'] === 'incomplete';
  // Some upstreams do not repeat their output in the last event: to go on from nothing would be worse than not to.
  const empty = listOf(response['output']).length === 0;
  if (responseState === null || id === '' || !done || empty) return;
  memory.put({
    id,
    createdAt: exchange.startedAt,
    keyId: responseState.keyId,
    connectionId,
    model: requestedModel,
    previousId: responseState.previousId,
    input: withIds(responseState.input ?? inputItems(request['input']), id),
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
