import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { AuditRecord } from '../../../src/access/audit/schema.ts';
import { verifyAudit } from '../../../src/access/audit/verify.ts';
import { readManifest, unpackBackup } from '../../../src/backup/read.ts';
import { waitFor } from '../../support/gateway/gateway.ts';
import { firstResult, managed } from '../../support/management/management.ts';

const managing = managed();

const folder = () => join(managing.gateway.dataDir, 'audit');
const file = () => {
  const names = readdirSync(folder()).filter((name) => name.endsWith('.jsonl'));
  return join(folder(), names.at(-1) ?? 'none');
};
const records = (action: string): AuditRecord[] =>
  readFileSync(file(), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditRecord)
    .filter(({ outcome }) => outcome !== 'intended')
    .filter((record) => record.action.startsWith(action));

describe('the audit log of a running gateway', () => {
  it('has a change on the disk when it is answered, with the values before and after', async () => {
    const { call } = managing;
    const { token } = managing.admin;
    const made = await call('POST', '/api/keys', { token, body: { name: 'audited' } });
    assert.equal(records('keys.create').at(-1)?.request_id, made.header('x-request-id'));
    const path = `/api/keys/${firstResult(made)['id']}`;
    await call('PATCH', path, { token, body: { name: 'renamed' } });
    const edit = records('keys.edit').at(-1);
    assert.deepEqual([edit?.before?.['name'], edit?.after?.['name']], ['audited', 'renamed']);
    assert.deepEqual([edit?.actor.name, edit?.actor.role, edit?.actor.via], ['admin', 'admin', 'token']);
  });

  it('refuses changes that it cannot record (SC-47), and continues when it can', async () => {
    const { call } = managing;
    const { token } = managing.admin;
    const place = file();
    const aside = join(managing.gateway.dataDir, 'aside.jsonl');
    renameSync(place, aside);
    mkdirSync(place);
    const refused = await call('POST', '/api/keys', { token, body: { name: 'unrecorded' } });
    assert.equal(refused.status, 503, refused.text);
    assert.equal(refused.text.includes('sk-'), false, 'the new key is not given out');
    assert.equal((await call('GET', '/api/keys', { token })).status, 200, 'reading goes on');
    rmSync(place, { recursive: true });
    renameSync(aside, place);
    assert.equal((await call('POST', '/api/keys', { token, body: { name: 'recorded' } })).status, 200);
    const { fault, ok } = await verifyAudit(folder());
    assert.equal(ok, true, JSON.stringify(fault));
  });
});

describe('backups over the management API', () => {
  it('are made, checked, shown and removed by admins, and restored by nobody', async () => {
    const { call, gateway } = managing;
    const viewer = await managing.person('vera', 'viewer');
    for (const [method, path] of [
      ['GET', '/api/backups'],
      ['POST', '/api/backups'],
    ] as const)
      assert.equal((await call(method, path, { token: viewer.token, body: {} })).status, 403, method);
    const token = await managing.login('admin');
    const made = await call('POST', '/api/backups', { token, body: { include_key: false } });
    assert.equal(made.status, 202, made.text);
    const begun = firstResult(made);
    assert.equal(made.header('location'), begun['task_href']);
    const second = await call('POST', '/api/backups', { token, body: {} });
    assert.equal(second.status, 409, 'one at a time');
    const taskPath = String(begun['task_href']);
    const task = async () => (await call('GET', taskPath, { token })).json();
    await waitFor('the backup', async () => (await task())['state'] === 'Finished');
    const { message, progress, result, status, target } = await task();
    assert.equal(status, 'Ok', String(message));
    assert.equal(progress, 1);
    assert.equal(target, begun['href']);
    const name = String((result as { id: string }).id);
    assert.equal((await call('GET', String(begun['href']), { token })).json()['id'], name);
    const path = join(gateway.dataDir, 'backups', name);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal((await readManifest(path)).key.included, false);
    await unpackBackup(path, null);
    assert.equal(made.text.includes(gateway.dataDir), false, 'paths of the machine stay there');
    const act = (action: string) => call('POST', `/api/backups/${name}`, { token, body: { action } });
    assert.equal((await act('verify')).json()['success'], true);
    const restore = (await act('restore')).json();
    assert.equal(restore['success'], false);
    assert.match(String(restore['message']), /gateway restore modelgate-/);
    const outcomes = records('backups.').map(({ action, outcome }) => [action, outcome]);
    assert.deepEqual(outcomes, [
      ['backups.read', 'denied'],
      ['backups.create', 'denied'],
      ['backups.create', 'success'],
      ['backups.create', 'failure'],
      ['backups.verify', 'success'],
      ['backups.restore', 'failure'],
    ]);
    assert.equal((await call('DELETE', `/api/backups/${name}`, { token })).status, 204);
    assert.equal((await call('GET', `/api/backups/${name}`, { token })).status, 404);
  });

  it('that fail after they were begun are recorded as failed', async () => {
    const { call, gateway } = managing;
    const token = await managing.login('admin');
    const folder = join(gateway.dataDir, 'backups');
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'no folder');
    const made = await call('POST', '/api/backups', { token, body: {} });
    assert.equal(made.status, 202, made.text);
    const path = String(firstResult(made)['task_href']);
    const task = async () => (await call('GET', path, { token })).json();
    await waitFor('the task', async () => (await task())['state'] === 'Finished');
    assert.equal((await task())['status'], 'Error');
    const last = () => records('backups.create').at(-1);
    await waitFor('its record', async () => last()?.outcome === 'failure');
    assert.equal(last()?.reason, 'internal_error');
    rmSync(folder);
  });

  it('need a password that was given a moment ago', async () => {
    const token = await managing.login('admin');
    managing.advance(400);
    const late = await managing.call('POST', '/api/backups', { token, body: {} });
    assert.equal(late.status, 403);
    assert.match(late.text, /reauthentication_required/);
  });
});
