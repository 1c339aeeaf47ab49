import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startGateway, waitFor } from '../support/gateway/gateway.ts';
import { startHttpReceiver } from '../support/servers/http-receiver.ts';

const configuration = `components:
  channels: [{unique_id: main, url: "memory:", mq_topic_name: main}]
  sources: [{ref: {unique_id: gw, kind: gateway}}]
  triggers: [{ref: {unique_id: billing, kind: service, name: billing}}]
router_rules:
  routers: [{source_id: gw, trigger_id: billing, channel_id: main}]
`;

it('a receiver can consent to events later, at the callback address, by GET or POST', async (t) => {
  const receiver = await startHttpReceiver();
  t.after(() => receiver.close());
  receiver.answer(({ method }) => ({ status: method === 'OPTIONS' ? 202 : 204 }));
  const gateway = await startGateway();
  t.after(() => gateway.stop());
  writeFileSync(
    join(gateway.dataDir, 'event-services.yaml'),
    `billing: {url: "${receiver.url}/events", origin: gw.example.com, callback: "${gateway.url}"}\n`,
  );
  writeFileSync(join(gateway.dataDir, 'events.yaml'), configuration);
  const body = { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] };
  await waitFor('the question', async () => {
    await gateway.ask('/v1/chat/completions', body);
    return receiver.received.length > 0;
  });
  const callback = String(receiver.received[0]?.headers['webhook-request-callback']);
  assert.ok(callback.startsWith(`${gateway.url}/api/events/consent?id=billing&key=`), callback);
  const wrong = await fetch(`${gateway.url}/api/events/consent?id=billing&key=guessed`, { method: 'POST' });
  assert.equal(wrong.status, 404);
  await wrong.body?.cancel();
  assert.equal((await fetch(callback, { method: 'DELETE' })).status, 405);
  assert.ok(receiver.received.every(({ method }) => method === 'OPTIONS'));
  for (const method of ['POST', 'GET'])
    assert.equal((await fetch(callback, { method, headers: { 'webhook-allowed-rate': '*' } })).status, 204);
  await waitFor('an event', () => receiver.received.some(({ method }) => method === 'POST'));
  const { stderr, stdout } = gateway.output();
  assert.ok(!(stdout + stderr).includes(callback.split('key=')[1] ?? ''), 'the key is in no log');
});
