import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rowsOf } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { geminiStream } from '../../support/upstream/answers-native.ts';
import { stream } from '../../support/upstream/steps.ts';

const at = setting();

describe('fields that were dropped in translation', () => {
  it('are named by the answer, stored in the ledger and shown by explain, in the client’s own terms', async () => {
    await at.gateway.connect({ provider: 'gemini-compatible', name: 'goog', baseUrl: at.upstream.url });
    at.upstream.always(stream(geminiStream({ text: ['hi'] })));
    const reply = await at.gateway.ask('/v1/chat/completions', {
      model: 'goog/gemini-2.5-pro',
      user: 'ann',
      mood: 'calm',
      messages: [{ role: 'user', content: 'hi', weather: 'fair' }],
    });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.header('x-gateway-dropped'), 'messages.weather,mood,user');
    const id = String(reply.header('x-request-id'));
    const names = ['messages.weather', 'mood', 'user'];
    const [row] = await rowsOf(at.gateway, [reply]);
    assert.deepEqual(row?.dropped, names);
    const told = await at.gateway.cli('explain', id);
    assert.match(told.stdout, /Not sent to the model: messages\.weather, mood, user/);
    const json = await at.gateway.cli('explain', id, '--json');
    assert.deepEqual(JSON.parse(json.stdout).request.dropped, names);
  });
});
