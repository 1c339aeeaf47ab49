import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { waitFor } from '../../support/gateway/gateway.ts';
import { firstResult, managed, refused } from '../../support/management/management.ts';
import { type HttpReceiver, startHttpReceiver } from '../../support/servers/http-receiver.ts';

/** Alerts as people set them up, at the command line and through the API, with a receiver at the other end. */
const managing = managed({ env: { EVENTS_PRIVATE_NETWORKS: 'true' } });

let receiver: HttpReceiver;
before(async () => {
  receiver = await startHttpReceiver();
});
after(() => receiver?.close());

const at = (path: string) => receiver.received.filter((one) => one.path.startsWith(path));
const auditText = () => {
  const folder = join(managing.gateway.dataDir, 'audit');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'utf8'))
    .join('');
};

describe('alerts over the management API', () => {
  it('are made, tested, changed, paused and removed, and their targets are shown to nobody', async () => {
    const { admin, call } = managing;
    const { token } = admin;
    const body = {
      kind: 'webhook',
      target: `${receiver.url}/hook/planted-target-secret`,
      on: ['key.*'],
      digest_seconds: 0,
    };
    const made = firstResult(await call('POST', '/api/alerts', { token, body }));
    const secret = String(made['signing_secret']);
    assert.match(secret, /^whsec_/);
    const path = `/api/alerts/${made['id']}`;
    const tested = await call('POST', path, { token, body: { action: 'test' } });
    assert.deepEqual(JSON.parse(tested.text)['success'], true, tested.text);
    assert.equal(at('/hook').at(-1)?.headers['ce-type'], 'io.modelgate.alert.test.v1');

    await call('POST', '/api/keys', { token, body: { name: 'alerted' } });
    await waitFor('the alert', () => at('/hook').some(({ body: text }) => text.includes('alerted')));
    const { body: text, headers } = at('/hook').at(-1) ?? assert.fail();
    assert.equal(headers['ce-type'], 'io.modelgate.key.created.v1');
    assert.doesNotThrow(() => new Webhook(secret).verify(text, headers as Record<string, string>));

    await call('POST', path, { token, body: { action: 'pause' } });
    await call('POST', '/api/keys', { token, body: { name: 'unheard' } });
    await call('POST', path, { token, body: { action: 'resume' } });
    await call('POST', '/api/keys', { token, body: { name: 'heard' } });
    await waitFor('the next alert', () => at('/hook').some(({ body: one }) => one.includes('"heard"')));
    assert.equal(
      at('/hook').some(({ body: one }) => one.includes('unheard')),
      false,
    );

    const patched = await call('PATCH', path, {
      token,
      body: { name: 'renamed', target: `${receiver.url}/hook/other-planted-secret` },
    });
    assert.equal(patched.status, 200, patched.text);
    for (const shown of [patched.text, (await call('GET', '/api/alerts?expand=resources', { token })).text])
      assert.equal(/planted/.test(shown), false, shown);
    assert.equal((await call('DELETE', path, { token })).status, 204);
    assert.equal(/planted/.test(auditText()), false);
    assert.match(auditText(), /"action":"alerts\.create"/);
  });

  it('are refused with the field that is wrong, and without the target', async () => {
    const { call } = managing;
    const { token } = managing.admin;
    const good = { kind: 'slack', target: `${receiver.url}/planted` };
    for (const [wrong, param] of [
      [{ on: ['budget.nothing'] }, 'on'],
      [{ where: "type = 'a" }, 'where'],
      [{ where: 'NOT_A_FUNCTION(1)' }, 'where'],
      [{ target: 'ftp://planted' }, 'target'],
      [{ target: 'https://me:planted@example.com/' }, 'target'],
      [{ kind: 'email', target: 'planted' }, 'target'],
      [{ args: ['a'] }, 'args'],
      [{ digest_seconds: -1 }, 'digest_seconds'],
    ] as const) {
      const reply = await call('POST', '/api/alerts', { token, body: { ...good, ...wrong } });
      refused(reply, 400);
      assert.equal(JSON.parse(reply.text).error?.param ?? JSON.parse(reply.text).param, param, reply.text);
      assert.equal(reply.text.includes('planted'), false, reply.text);
    }
  });

  it('run no programs for admins on other machines', async () => {
    const { call } = managing;
    const body = { kind: 'command', target: '/bin/true' };
    refused(await call('POST', '/api/alerts', { token: managing.admin.token, body }), 403);
  });
});

describe('alerts at the command line', () => {
  it('take effect in the running gateway, and say what the receiver answered', async () => {
    const { gateway } = managing;
    const added = await gateway.cli(
      ...['alerts', 'add', 'slack', `${receiver.url}/slack/secret`, '--on', 'key.*', '--digest', '1s'],
      '--json',
    );
    assert.equal(added.code, 0, added.stderr);
    assert.equal(added.stdout.includes('secret'), false);
    receiver.answer(() => ({ status: 404, body: 'no_service' }));
    const tested = await gateway.cli('alerts', 'test', 'slack');
    assert.deepEqual([tested.code, tested.stdout.trim()], [1, 'Not sent: 404 no_service']);
    receiver.answer(() => ({ status: 200, body: 'ok' }));
    receiver.received.length = 0;
    for (let n = 0; n < 5; n += 1)
      await managing.call('POST', '/api/keys', {
        token: managing.admin.token,
        body: { name: `made-${n}` },
      });
    const told = () => at('/slack').map(({ body }) => String(JSON.parse(body).text));
    const count = () =>
      told().reduce((sum, text) => sum + Number(/^\*(\d+) more event/.exec(text)?.[1] ?? 1), 0);
    await waitFor('all five keys', () => count() === 5);
    assert.match(told()[0] ?? '', /The key "made-0" was created/);
    const removed = await gateway.cli('alerts', 'remove', 'slack', '--yes');
    assert.equal(removed.code, 0, removed.stderr);
  });
});
