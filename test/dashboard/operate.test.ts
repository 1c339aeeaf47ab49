import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { browser, withoutChromium } from '../support/clients/chromium.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { managed } from '../support/management/management.ts';
import { buildPages } from './build.ts';
import { enter, staleNotice, visitor } from './visitor.ts';

describe('the pages for operating the gateway', { skip: withoutChromium }, () => {
  before(buildPages);
  const at = managed();
  const chromium = browser();
  const url = () => `http://127.0.0.1:${at.gateway.port}`;

  it('stop and start a service, with who would notice', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/services');
    const act = async (name: string) => {
      await ann.page.getByRole('button', { name: 'Actions for Data plane' }).click();
      await ann.page.getByRole('menuitem', { name }).click();
    };
    await act('Stop');
    await ann.page.getByText('No request is open').waitFor();
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
    await ann.page.getByRole('row', { name: /Data plane.*Stopped/ }).waitFor();
    await act('Start');
    const running = ann.page.getByRole('row', { name: /Data plane.*Running/ });
    await running.waitFor();
    await act('Restart');
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' });
    await running.waitFor();
    const { restarts } = (await at.call('GET', '/api/services/data-plane', { token: at.ownerKey() })).json();
    assert.equal(Reflect.get(Object(restarts), 'count'), 1);
    await ann.page.getByText('Data plane', { exact: true }).click();
    await ann.page.getByRole('dialog').getByText('Health checks').waitFor();
    assert.match(ann.page.url(), /\/services\/data-plane$/);
    assert.deepEqual(ann.errors(), []);
  });

  it('create a user, change the role and disable it, asking for the password where it is not fresh', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    at.advance(400);
    await ann.open('/users');
    await ann.page.getByRole('button', { name: 'Create user' }).click();
    await ann.page.getByLabel(/^User name/).fill('Nora');
    await ann.page.getByLabel(/^First password/).fill('a long secret of nora');
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Create user' }).click();
    await ann.page.getByRole('heading', { name: 'Confirm it is you' }).waitFor();
    await ann.page.getByLabel(/^Password/).fill(at.admin.password);
    await ann.page.getByRole('button', { name: 'Confirm' }).click();
    const row = ann.page.getByRole('row', { name: /^nora/ });
    await row.waitFor();
    const act = async (name: string) => {
      await ann.page.getByRole('button', { name: 'Actions for nora' }).click();
      await ann.page.getByRole('menuitem', { name }).click();
    };
    await act('Change role');
    await ann.page.getByRole('dialog').getByLabel('Role').selectOption('operator');
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await row.getByText('Operator').waitFor();
    await act('Disable');
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await row.getByText('Disabled').waitFor();
    const reply = await at.call('GET', '/api/users?expand=resources', { token: at.ownerKey() });
    const users = reply.json()['resources'] as { name: string; role: string; disabled: boolean }[];
    const nora = users.find(({ name }) => name === 'nora');
    assert.deepEqual([nora?.role, nora?.disabled], ['operator', true]);
    ann.errors();
  });

  it('create a token that is shown once and has the chosen permissions', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/users');
    await ann.page.getByRole('button', { name: 'Create token' }).click();
    const form = ann.page.getByRole('dialog');
    await form.getByLabel(/^Name/).fill('nightly');
    await form.getByLabel('services:read').check();
    await form.getByRole('button', { name: 'Create token' }).click();
    await ann.page.getByRole('heading', { name: 'Token "nightly"' }).waitFor();
    const shown = ann.page.getByRole('dialog').locator('pre').first();
    const token = ((await shown.textContent()) ?? '').trim();
    assert.equal((await at.call('GET', '/api/services', { token })).status, 200);
    assert.equal((await at.call('GET', '/api/keys', { token })).status, 403);
    await ann.page.getByRole('button', { name: 'I have stored the token' }).click();
    assert.ok(!(await ann.page.content()).includes(token), 'it is gone from the page');
    assert.deepEqual(ann.errors(), []);
  });

  it('find who did what, and save it as a file', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    const made = await at.call('POST', '/api/keys', { token: at.ownerKey(), body: { name: '=1+1' } });
    assert.equal(made.status, 200);
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/audit');
    await ann.page.getByRole('searchbox').fill('keys.create');
    await ann.page.getByText(/^\d+ records?$/).waitFor();
    await waitFor('the filter', async () => /q=keys/.test(ann.page.url()));
    const row = ann.page.getByRole('row', { name: /keys\.create/ }).first();
    await row.waitFor();
    const [file] = await Promise.all([
      ann.page.waitForEvent('download'),
      ann.page.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    const lines = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    assert.match(lines[0] ?? '', /^seq,time,actor,/);
    assert.ok(lines.slice(1).every((line) => line.includes(',keys.create,')));
    await row.click();
    await ann.page.getByRole('dialog').getByRole('heading', { name: 'After', exact: true }).waitFor();
    assert.deepEqual(ann.errors(), []);
  });

  it('make a backup whose progress is still there after a reload, and check it', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/backups');
    await ann.page.getByRole('button', { name: 'Make a backup' }).click();
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Make a backup' }).click();
    await ann.page.getByText(/The backup .* is made/).waitFor();
    await ann.page.reload();
    await ann.page.getByText(/The backup .* is made/).waitFor();
    await ann.page.getByRole('button', { name: 'Verify' }).click();
    await ann.page
      .getByText(/is whole/)
      .first()
      .waitFor();
    await ann.page.getByRole('button', { name: /^Actions for/ }).click();
    await ann.page.getByRole('menuitem', { name: 'How to restore' }).click();
    await ann.page.getByText(/gateway restore /).waitFor();
    assert.deepEqual(ann.errors(), []);
  });

  it('show every setting with where it comes from, and change one', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/settings?q=backups.keep');
    const line = ann.page.locator('[data-setting="backups.keep"]');
    await line.getByText('default', { exact: true }).waitFor();
    await line.getByRole('button', { name: 'Change backups.keep' }).click();
    await ann.page.getByLabel(/^backups\.keep/).fill('0');
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await ann.page.getByRole('alert').waitFor();
    ann.errors();
    await ann.page.getByLabel(/^backups\.keep/).fill('3');
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await line.getByText('After a restart: 3').waitFor();
    await line.getByRole('button', { name: /^Reset/ }).click();
    await line.getByText('After a restart: 3').waitFor({ state: 'detached' });

    // Somebody else changes it while the toast offers to undo, and while the form is open.
    const meanwhile = async (value: number) => {
      const path = '/api/settings/backups.keep';
      const reply = await at.call('PATCH', path, { token: at.ownerKey(), body: { value } });
      assert.equal(reply.status, 200, reply.text);
    };
    await meanwhile(5);
    await ann.page.getByRole('button', { name: 'Undo' }).last().click();
    await ann.page.getByText('Not undone: somebody else has changed this since').waitFor();
    await line.getByText('After a restart: 5').waitFor();
    await line.getByRole('button', { name: 'Change backups.keep' }).click();
    await ann.page.getByLabel(/^backups\.keep/).fill('6');
    await meanwhile(9);
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await staleNotice(ann).getByRole('row', { name: 'backups.keep 6 9' }).waitFor();
    await staleNotice(ann).getByRole('button', { name: 'Take theirs' }).click();
    assert.equal(await ann.page.getByLabel(/^backups\.keep/).inputValue(), '9');
    await ann.page.getByRole('button', { name: 'Cancel' }).click();
    await line.getByText('After a restart: 9').waitFor();
    await line.getByRole('button', { name: /^Reset/ }).click();
    await line.getByText('After a restart: 9').waitFor({ state: 'detached' });
    await ann.page.getByRole('button', { name: 'Undo' }).last().click();
    await line.getByText('After a restart: 9').waitFor();
    assert.deepEqual(ann.errors(), []);
  });

  it('offer a viewer and an operator what the API lets them do', async (test) => {
    const seen: Record<string, string[]> = {};
    for (const role of ['viewer', 'operator'] as const) {
      const person = await visitor(chromium.running, url());
      test.after(() => person.close());
      await enter(person, at, await at.person(`some-${role}`, role), role);
      await person.open('/services');
      await person.page.getByText('Data plane').waitFor();
      const offered = person.page.getByRole('button', { name: 'Actions for Data plane' });
      const names = await person.page.getByRole('navigation').getByRole('link').allInnerTexts();
      seen[role] = [
        `${await offered.count()} actions`,
        ...['Services', 'Users', 'Audit', 'Backups', 'Settings'].filter((name) => names.includes(name)),
      ];
      await person.open('/users');
      await person.page.getByRole('row', { name: new RegExp(`^some-${role}`) }).waitFor();
      const create = person.page.getByRole('button', { name: 'Create user' });
      assert.match((await create.getAttribute('title')) ?? '', /needs the role Administrator/);
      assert.deepEqual(person.errors(), []);
    }
    assert.deepEqual(seen, {
      viewer: ['0 actions', 'Services', 'Users'],
      operator: ['1 actions', 'Services', 'Users', 'Settings'],
    });
  });
});
