import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseJson } from '../codecs/json/lossless.ts';
import type { JsonObject } from '../codecs/json/values.ts';
import type { StoredResponse } from '../responses/stored.ts';
import type { WorkerEvent } from './message.ts';
import { remoteResponses } from './remote-responses.ts';
import { responseOf } from './response-text.ts';

const written = '{"id":1234567890123456789,"share":1.0}';

it('stored responses keep the digits of their numbers on the way to the owner and back', async () => {
  const stored: StoredResponse = {
    id: 'resp_1',
    createdAt: 1,
    keyId: 'key_1',
    connectionId: 'con_1',
    model: 'm-1',
    previousId: null,
    input: [parseJson(written)],
    response: parseJson(written) as JsonObject,
  };
  let kept = '';
  const responses = remoteResponses({
    // What a message between two processes does to a value.
    tell: (event) => {
      const told = structuredClone(event) as WorkerEvent & { kind: 'response' };
      kept = told.text;
    },
    ask: async () => structuredClone({ text: kept }) as never,
  });
  responses.put(stored);
  assert.deepEqual(responseOf(kept), stored);
  assert.deepEqual(await responses.get('resp_1', 'key_1'), stored);
});
