import { isObject, type JsonObject, parseObject } from '../codecs/values.ts';
import { splitFrames } from '../lib/sse.ts';
import { inputItems, withIds } from '../responses/continued.ts';
import type { ResponseMemory } from '../responses/stored.ts';
import type { Call } from './call.ts';

/**
 * Keeps what a translated call of the responses format was answered, unless its caller said `store: false`.
 * @param last the frames that end the answer, the terminal event among them
 */
export function keepAnswer(memory: Pick<ResponseMemory, 'put'>, call: Call, last: string): void {
  const { exchange, requestedModel, target, translated, turn } = call;
  if (turn === null || turn.compaction === 'endpoint' || translated === null) return;
  if (translated.request['store'] === false) return;
  const response = finalResponse(last);
  if (response === null) return;
  const id = String(response['id']);
  const input = turn.input ?? inputItems(translated.request['input']);
  memory.put({
    id,
    createdAt: exchange.startedAt,
    keyId: turn.keyId,
    connectionId: target.connection.id,
    model: requestedModel,
    previousId: turn.previousId,
    input: withIds(input, id),
    response,
  });
}

/** The response in a terminal event; null when there is none. */
function finalResponse(frames: string): JsonObject | null {
  const terminal = splitFrames(Buffer.from(frames)).frames.findLast(
    ({ event }) => event === 'response.completed' || event === 'response.incomplete',
  );
  const response = terminal === undefined ? null : parseObject(terminal.data)?.['response'];
  return isObject(response) ? response : null;
}
