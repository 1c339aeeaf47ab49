import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { splitFrames } from '../../lib/sse.ts';
import { plainDialect } from '../dialect.ts';
import { ERROR_MARK } from '../result-mark.ts';
import type { StreamPart } from '../stream-part.ts';
import { type JsonObject, listOf, objectOf } from '../values.ts';
import { reader } from './reader.ts';
import { decodeRequest } from './request-decode.ts';
import { encodeRequest } from './request-encode.ts';

const decoded = (...input: JsonObject[]) => decodeRequest({ model: 'm', input });
const resent = (...input: JsonObject[]) => listOf(encodeRequest(decoded(...input), plainDialect)['input']);
const partsIn = (...input: JsonObject[]) => decoded(...input).messages.flatMap(({ parts }) => parts);

/** The parts of a stream of these events, each under the name that its type says. */
function told(...events: (JsonObject & { type: string })[]): StreamPart[] {
  const source = reader();
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  return [...splitFrames(Buffer.from(text)).frames.flatMap((frame) => source.push(frame)), ...source.end()];
}

describe('a responses request', () => {
  it('M-09: a failed result says so in its text, and is one again when it comes back', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' };
    const answered = (output: unknown) => ({ type: 'function_call_output', call_id: 'c1', output });
    const outputs = [
      `${ERROR_MARK}no such file`,
      ERROR_MARK,
      [
        { type: 'input_text', text: ERROR_MARK },
        { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'auto' },
      ],
    ];
    for (const output of outputs) {
      const [, result] = partsIn(call, answered(output));
      assert.equal(result?.type === 'tool-result' && result.isError, true);
      assert.equal(JSON.stringify(result).includes(ERROR_MARK), false);
      assert.deepEqual(resent(call, answered(output)), [call, answered(output)]);
    }
    const [, plain] = partsIn(call, answered('Error: 0 problems'));
    assert.equal(plain?.type === 'tool-result' && plain.isError, false);
  });
});

describe('a responses stream', () => {
  it('S-05: a call that the bound cut off is not whole, also where its end is not told', () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'list', arguments: '' };
    const begun = [
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"dir"' },
    ];
    const ended = (status: string) =>
      told(...begun, { type: `response.${status}`, response: { status, output: [] } }).find(
        ({ type }) => type === 'tool-call-end',
      );
    assert.equal(objectOf(ended('incomplete'))['complete'], false);
    assert.equal(objectOf(ended('completed'))['complete'], true);
  });
});
