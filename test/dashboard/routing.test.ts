import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { browser, withoutChromium } from '../support/clients/chromium.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { managed } from '../support/management/management.ts';
import { buildPages } from './build.ts';
import { enter, staleNotice, type Visitor, visitor } from './visitor.ts';

describe('the pages of combos, connections and keys', { skip: withoutChromium }, () => {
  before(buildPages);
  const at = managed();
  const chromium = browser();
  const owner = () => ({ token: at.ownerKey() });
  const admin = async (test: { after(fn: () => Promise<void>): void }): Promise<Visitor> => {
    const ann = await visitor(chromium.running, `http://127.0.0.1:${at.gateway.port}`);
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    return ann;
  };

  it('orders the targets of a combo by dragging and by keys, and says what last week would have cost', async (test) => {
    const reply = await at.gateway.ask('/v1/chat/completions', {
      model: 'demo/echo',
      messages: [{ role: 'user', content: 'good morning' }],
    });
    await at.gateway.entry(reply.header('x-request-id'));
    const ann = await admin(test);
    await ann.open('/combos');
    await ann.page.getByRole('button', { name: 'Create combo' }).click();
    await ann.page.getByLabel(/^Name/).fill('ordered');
    for (const target of ['demo/echo', 'demo/tools', 'openai/gpt-5']) {
      await ann.page.getByLabel(/Add a target/).fill(target);
      await ann.page.keyboard.press('Enter');
    }
    const order = () =>
      ann.page.evaluate<string[]>(
        "[...document.querySelectorAll('[data-target]')].map((row) => row.dataset.target)",
      );
    await ann.page
      .locator('[data-target="openai/gpt-5"]')
      .dragTo(ann.page.locator('[data-target="demo/echo"]'));
    await waitFor('the dragged row', async () => (await order())[0] === 'openai/gpt-5');
    await ann.page.getByRole('button', { name: 'Move openai/gpt-5 with the arrow keys' }).focus();
    await ann.page.keyboard.press('ArrowDown');
    await ann.page.keyboard.press('ArrowDown');
    await waitFor('the moved row', async () => (await order())[2] === 'openai/gpt-5');
    assert.deepEqual(await order(), ['demo/echo', 'demo/tools', 'openai/gpt-5']);
    await ann.page.getByRole('button', { name: 'What if, last 7 days' }).click();
    await ann.page.getByRole('rowheader', { name: 'Cost', exact: true }).waitFor();
    await ann.page.getByText('would have had the same target').waitFor();
    assert.deepEqual(await ann.findings(), []);
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' });
    await ann.page.getByRole('main').getByText('openai/gpt-5').waitFor();

    await ann.page.getByRole('button', { name: 'Edit' }).click();
    await ann.page.getByLabel('Strategy').selectOption('weighted');
    const targets = ['demo/tools', 'demo/echo'].map((target) => ({ target, weight: 1 }));
    const path = '/api/combos/ordered';
    assert.equal((await at.call('PATCH', path, { ...owner(), body: { targets } })).status, 200);
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await staleNotice(ann).getByRole('row', { name: 'Strategy weighted priority' }).waitFor();
    await staleNotice(ann)
      .getByRole('row', { name: /^Targets in order not changed .*demo\/tools/ })
      .waitFor();
    assert.equal((await at.call('GET', path, owner())).json()['strategy'], 'priority');
    await staleNotice(ann).getByRole('button', { name: 'Keep mine' }).click();
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' });
    const saved = (await at.call('GET', path, owner())).json();
    const kept = (saved['targets'] as { target: string }[]).map(({ target }) => target);
    assert.deepEqual([saved['strategy'], kept], ['weighted', ['demo/tools', 'demo/echo']]);
    assert.deepEqual(ann.errors(), []);
  });

  it('connects a provider that is found by typing, renames it, takes another key, and says how it stands', async (test) => {
    const ann = await admin(test);
    await ann.open('/connections');
    await ann.page.getByRole('button', { name: 'Connect a provider' }).click();
    await ann.page.getByRole('textbox', { name: /^Provider/ }).fill('openai-comp');
    await ann.page
      .getByRole('button', { name: /compatible/i })
      .first()
      .waitFor();
    await ann.page.keyboard.press('Enter');
    await ann.page.getByLabel(/^Address/).fill(`http://127.0.0.1:${at.gateway.port}/nowhere`);
    await ann.page.getByLabel(/^Name of the connection/).fill('local');
    await ann.page.getByLabel(/^API key/).fill('a-secret-of-an-upstream');
    await ann.page.getByRole('button', { name: 'Connect and test' }).click();
    await ann.page.getByRole('alert').waitFor();
    // The browser notes that this was refused. A test that fails is an answer.
    assert.equal(ann.errors().length, 1);
    await ann.page.getByLabel(/^Address/).fill('http://127.0.0.1:9/v1');
    await ann.page.getByRole('button', { name: 'Connect and test' }).click();
    const row = ann.page.getByRole('row').filter({ hasText: 'local' });
    await row.getByText('Test failed').waitFor();
    await row.getByRole('button', { name: /Actions/ }).click();
    await ann.page.getByRole('menuitem', { name: 'Edit' }).click();
    await ann.page.getByLabel(/^Name of the connection/).fill('renamed');
    await ann.page.getByLabel(/^New API key/).fill('another-secret');
    await ann.page.getByLabel(/^Billing/).selectOption('plan');
    await ann.page.getByRole('button', { name: 'Save and test' }).click();
    const renamed = ann.page.getByRole('row').filter({ hasText: 'renamed' });
    await renamed.click();
    await ann.page.getByRole('heading', { name: 'Limits and balance' }).waitFor();
    await ann.page.getByRole('heading', { name: 'Last error' }).waitFor();
    assert.deepEqual(await ann.findings(), []);
    await ann.page.goBack();
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' });
    await ann.page.goForward();
    await ann.page.getByRole('heading', { name: 'Limits and balance' }).waitFor();
    const html = await ann.page.content();
    assert.doesNotMatch(html, /a-secret-of-an-upstream|another-secret/);
    const connection = (await at.call('GET', '/api/connections/renamed', owner())).json();
    assert.equal(connection['has_credential'], true);
    assert.equal(connection['billing'], 'plan');
    await ann.open('/connections?show=edit&connection=renamed');
    await ann.page.getByRole('dialog', { name: /renamed/ }).waitFor();
    assert.deepEqual(ann.errors(), []);
  });

  it('changes a key, shows the tightest of its limits and whose it is, and replaces it', async (test) => {
    const made = await at.call('POST', '/api/keys', {
      ...owner(),
      body: { name: 'of a team', team: 'core' },
    });
    assert.equal(made.status, 200, made.text);
    for (const [scope, subject, limit] of [
      ['global', null, 1000],
      ['team', 'core', 1],
    ] as const) {
      const body = { scope, subject, metric: 'requests', period: 'day', limit };
      assert.equal((await at.call('POST', '/api/budgets', { ...owner(), body })).status, 200);
    }
    const text = String((made.json()['results'] as { key: string }[])[0]?.key);
    await waitFor('a request of the key', async () => {
      const reply = await at.gateway.ask(
        '/v1/chat/completions',
        { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] },
        { authorization: `Bearer ${text}` },
      );
      return reply.status === 200;
    });
    const ann = await admin(test);
    await ann.open('/api-manager');
    const row = ann.page.getByRole('row').filter({ hasText: 'of a team' });
    await row.getByText('of team core').waitFor();
    await row.getByRole('button', { name: /Actions/ }).click();
    await ann.page.getByRole('menuitem', { name: 'Edit' }).click();
    await ann.page.getByLabel(/^Labels/).fill('env=ci');
    await ann.page.getByLabel(/^Budget \(USD\)/).fill('2.5');
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' });
    const key = (await at.call('GET', '/api/keys/of%20a%20team', owner())).json();
    assert.deepEqual([key['labels'], key['team'], key['budget_usd']], [{ env: 'ci' }, 'core', 2.5]);
    await row.getByRole('button', { name: /Actions/ }).click();
    await ann.page.getByRole('menuitem', { name: 'Replace key' }).click();
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Replace key' }).click();
    await ann.page.getByRole('heading', { name: 'Key "of a team"' }).waitFor();
    await ann.page.getByLabel('Settings for a tool').selectOption('codex');
    await ann.page.getByText('[model_providers.modelgate]').waitFor();
    const shown = (await ann.page.getByRole('dialog').locator('pre').first().textContent()) ?? '';
    assert.match(shown, /^sk-/);
    assert.notEqual(shown, text);
    assert.deepEqual(await ann.findings(), []);
    assert.deepEqual(ann.errors(), []);
  });
});
