import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../../codecs/json/values.ts';
import { compactionItem } from '../../codecs/openai-responses/request/compaction.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { GatewayError } from '../../lib/error.ts';
import { findProvider } from '../../providers/index.ts';
import type { StoredResponse } from '../../responses/stored.ts';
import { requestedModel } from '../inbound/request.ts';
import { resolveResponseState } from './response-state.ts';

function target(providerId: string, format: Target['format']): Target {
  const provider = findProvider(providerId);
  assert.ok(provider);
  return { provider, format, model: 'm-1', connection: {} as Target['connection'] };
}

const chat = target('groq', 'openai-chat');
const openai = target('openai', 'openai-responses');
const xai = target('xai', 'openai-responses');

const userMessage = (text: string) => ({ type: 'message', role: 'user', content: text });
const answered = (id: string, text: string) => ({
  id,
  object: 'response',
  output: [
    { id: `msg_${id.slice(5)}_0`, type: 'message', role: 'assistant', status: 'completed', content: text },
  ],
});
const turnOf = (id: string, previousId: string | null, text: string): StoredResponse => ({
  id,
  previousId,
  createdAt: 1,
  keyId: 'key_a',
  connectionId: 'con_1',
  model: 'm',
  input: [{ ...userMessage(`${text}?`), id: `msg_${id.slice(5)}_i0` }],
  response: answered(id, `${text}!`),
});

function memoryOf(...stored: StoredResponse[]) {
  return {
    get: async (id: string, keyId: string) => {
      const response = stored.find((one) => one.id === id && one.keyId === keyId);
      return response === undefined ? null : { ...response, length: JSON.stringify(response).length };
    },
  };
}

const memory = memoryOf(
  turnOf('resp_1', null, 'one'),
  turnOf('resp_2', 'resp_1', 'two'),
  turnOf('resp_9', 'resp_8', 'nine'),
);

interface Options {
  targets?: readonly [Target, ...Target[]];
  endpoint?: boolean;
  limitBytes?: number;
  keyId?: string;
}

/** No provider keeps any. */
const places = { find: async () => null };

async function take(
  body: unknown,
  { targets = [chat], endpoint = false, limitBytes = 1e6, keyId = 'key_a' }: Options = {},
) {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const model = requestedModel([bytes]);
  const resolved = await resolveResponseState({
    memory,
    places,
    keyId,
    model,
    targets,
    endpoint,
    limitBytes,
  });
  const text = Buffer.concat([...resolved.model.pieces]).toString();
  return { ...resolved, bytes: text, request: JSON.parse(text) as JsonObject };
}

const isError = (code: string, param: string | null) => (error: unknown) =>
  error instanceof GatewayError && error.code === code && error.param === param;
const contents = (request: JsonObject) => (request['input'] as JsonObject[]).map(({ content }) => content);

describe('a request of the responses format', () => {
  it('that refers to nothing stays as it came', async () => {
    const body = Buffer.from('{ "model" : "m", "input":[{"role":"user","content":"hi"}] }');
    const { bytes, responseState } = await take(body);
    assert.equal(bytes, body.toString());
    assert.deepEqual(
      [responseState.previousId, responseState.input, responseState.compaction],
      [null, null, null],
    );
  });

  it('is joined to everything before it, with its model easy to find', async () => {
    const { model, request, responseState } = await take({
      model: 'up/m',
      previous_response_id: 'resp_2',
      input: 'three?',
    });
    assert.deepEqual(contents(request), ['one?', 'one!', 'two?', 'two!', 'three?']);
    assert.equal('previous_response_id' in request, false);
    assert.equal(Buffer.concat([...model.pieces]).toString('utf8', model.start, model.end), '"up/m"');
    assert.deepEqual([responseState.previousId, responseState.input], ['resp_2', [userMessage('three?')]]);
  });

  it('goes to a provider of the format without the ids that it does not know', async () => {
    const { request } = await take(
      { model: 'm', previous_response_id: 'resp_1', input: 'x' },
      { targets: [openai] },
    );
    assert.deepEqual(request['input'], [
      userMessage('one?'),
      { type: 'message', role: 'assistant', content: 'one!' },
      userMessage('x'),
    ]);
  });

  it('continues no response of another key, and none whose beginning was deleted', async () => {
    const body = { model: 'm', previous_response_id: 'resp_1', input: 'x' };
    const notFound = isError('previous_response_not_found', 'previous_response_id');
    await assert.rejects(take(body, { keyId: 'key_b' }), notFound);
    await assert.rejects(take({ ...body, previous_response_id: 'resp_9' }), notFound);
    await assert.rejects(take({ ...body, previous_response_id: '' }), notFound);
    await assert.rejects(
      take({ ...body, previous_response_id: 7 }),
      isError('invalid_request', 'previous_response_id'),
    );
  });

  it('that only its provider can resolve goes to providers of the format', async () => {
    const body = { model: 'm', previous_response_id: 'resp_theirs', input: 'x' };
    const { bytes, targets } = await take(body, { targets: [chat, openai] });
    assert.deepEqual([targets, bytes], [[openai], JSON.stringify(body)]);
  });

  it('is no larger than a request may be', async () => {
    const body = { model: 'm', previous_response_id: 'resp_2', input: 'x' };
    await assert.rejects(
      take(body, { limitBytes: 300 }),
      isError('request_too_large', 'previous_response_id'),
    );
    await assert.rejects(
      take({ ...body, previous_response_id: 'resp_1', input: 'x'.repeat(790) }, { limitBytes: 800 }),
      isError('request_too_large', null),
    );
  });

  it('has its references resolved, and keeps unknown ones', async () => {
    const unknown = { type: 'item_reference', id: 'msg_none_0' };
    const input = [{ type: 'item_reference', id: 'msg_2_i0' }, unknown, { id: 'msg_1_0' }];
    const { request } = await take({ model: 'm', input });
    const items = request['input'] as JsonObject[];
    assert.deepEqual([items[0]?.['content'], items[1], items[2]?.['content']], ['two?', unknown, 'one!']);
  });

  it('has the gateway’s summaries written as text, for any provider', async () => {
    for (const targets of [[chat], [openai]] as const) {
      const input = [compactionItem('cmp_1', 'They met.'), userMessage('x')];
      const { request } = await take({ model: 'm', input }, { targets });
      assert.match(JSON.stringify((request['input'] as JsonObject[])[0]), /"role":"user".*They met\./);
    }
  });

  it('is compacted by the provider if the first target supports it, otherwise by the gateway', async () => {
    const body = { model: 'm', input: [userMessage('x'), { type: 'compaction_trigger' }] };
    const native = await take(body, { targets: [openai, xai] });
    assert.deepEqual(
      [native.responseState.compacts, native.targets, native.request],
      [false, [openai], body],
    );
    const own = await take(body, { targets: [xai, openai] });
    assert.deepEqual(
      [own.responseState.compacts, own.targets, own.request['input']],
      [true, [xai], [userMessage('x')]],
    );
    const endpoint = await take({ model: 'm', input: 'x', stream: true }, { endpoint: true });
    assert.deepEqual([endpoint.responseState.compacts, endpoint.request['stream']], [true, false]);
    assert.deepEqual(endpoint.responseState.shown, [userMessage('x')]);
  });

  it('is understood however its bytes are cut', async () => {
    const whole = Buffer.from(JSON.stringify({ model: 'm', previous_response_id: 'resp_1', input: 'x' }));
    for (let at = 1; at < whole.length; at += 1)
      for (const pieces of [
        [whole.subarray(0, at), whole.subarray(at)],
        [whole.subarray(0, at), whole.subarray(at, at + 1), whole.subarray(at + 1)],
      ]) {
        const model = { value: 'm', start: 0, end: 0, pieces };
        const { responseState } = await resolveResponseState({
          memory,
          places,
          keyId: 'key_a',
          model,
          targets: [chat] as const,
          endpoint: false,
          limitBytes: 1e6,
        });
        assert.equal(responseState.previousId, 'resp_1');
      }
    const bytes = Array.from(whole, (byte) => Buffer.from([byte]));
    const model = { value: 'm', start: 0, end: 0, pieces: bytes };
    const { responseState } = await resolveResponseState({
      memory,
      places,
      keyId: 'key_a',
      model,
      targets: [chat] as const,
      endpoint: false,
      limitBytes: 1e6,
    });
    assert.equal(responseState.previousId, 'resp_1');
  });

  it('is refused without a crash when it is damaged or nested too deeply', async () => {
    const deep = `{"model":"m","previous_response_id":"resp_1","input":[${'['.repeat(50_000)}${']'.repeat(50_000)}]}`;
    await assert.rejects(take(Buffer.from(deep)), isError('invalid_json', null));
    const cut = Buffer.from('{"model":"m","previous_response_id":"resp_1","input":[');
    await assert.rejects(take(cut), isError('invalid_json', null));
    for (const input of [7, true, {}, { type: 'compaction_trigger' }])
      await assert.rejects(
        take({ model: 'm', previous_response_id: 'resp_1', input }),
        isError('invalid_request', 'input'),
      );
    const odd = [
      null,
      'item_reference',
      7,
      ['x'],
      { type: 'item_reference' },
      { type: 'item_reference', id: 7 },
    ];
    const { request } = await take({ model: 'm', input: odd });
    assert.deepEqual(request['input'], odd);
  });
});
