import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { before, describe, it } from 'node:test';
import { sumOfMoney } from '../../dashboard/src/lib/format/numbers.ts';
import { browser, withoutChromium } from '../support/clients/chromium.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { managed } from '../support/management/management.ts';
import { json, stall } from '../support/upstream/steps.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { buildPages } from './build.ts';
import { enter, staleNotice, type Visitor, visitor } from './visitor.ts';

/** A short answer of an upstream in OpenAI's format. */
const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'slow-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'done' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
};

/** An amount as a page shows it: `$1.25`. */
function amountIn(text: string | null): number {
  return Number((text ?? '').replace(/[^\d.-]/g, ''));
}

describe('the pages for using the gateway', { skip: withoutChromium }, () => {
  before(buildPages);
  const at = managed();
  const chromium = browser();
  const url = () => `http://127.0.0.1:${at.gateway.port}`;
  const admin = async (test: TestContext, path: string) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open(path);
    return ann;
  };
  const api = async (path: string) => (await at.call('GET', path, { token: at.ownerKey() })).json();

  it('asks several models the same in every format, and shows what the ledger has of each answer', async (test) => {
    const ann = await admin(test, '/playground?a=demo/echo&b=demo/tools');
    await ann.page.getByRole('button', { name: 'Make a key for this window' }).click();
    await ann.page.getByRole('textbox', { name: 'Prompt', exact: true }).fill('good morning');
    for (const format of ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini', 'ollama']) {
      await ann.page.getByLabel('Wire format').selectOption(format);
      await ann.page.getByRole('button', { name: 'Send' }).click();
      const first = ann.page.getByRole('region', { name: 'Model 1' });
      await first.getByText('Done').waitFor();
      await first.getByText('good morning').waitFor();
      await first.getByText('demo/echo').waitFor();
      const link = first.getByRole('link', { name: 'Open' });
      const id = ((await link.getAttribute('href')) ?? '').split('/').at(-1);
      const request = await api(`/api/requests/${id}`);
      assert.deepEqual([request['format'], request['tags']], [format, ['purpose=playground', 'playground']]);
      await ann.page.getByRole('region', { name: 'Model 2' }).getByText('Done').waitFor();
    }
    await ann.page.getByRole('button', { name: 'As code' }).click();
    await ann.page.getByText('curl -N').waitFor();
    await ann.page.keyboard.press('Escape');
    await ann.page.getByRole('combobox', { name: 'Model 1' }).fill('demo/nope');
    await ann.page.getByRole('button', { name: 'Send' }).click();
    await ann.page.getByRole('alert').getByText(/nope/).waitFor();
    ann.errors();
    await ann.open('/api-manager');
    await ann.page.getByText('1 key of the playground is not shown').waitFor();
    assert.equal(await ann.page.getByRole('cell', { name: /^playground / }).count(), 0);
    await ann.page.getByRole('link', { name: 'Show them' }).click();
    await ann.page.getByRole('cell', { name: /^playground / }).waitFor();
    await ann.open('/playground');
    await ann.page.getByRole('button', { name: 'Revoke the key' }).click();
    await waitFor('the key to be gone', async () => {
      const { resources } = (await api('/api/keys?expand=resources')) as {
        resources: { labels: Record<string, string> }[];
      };
      return resources.every(({ labels }) => labels['purpose'] !== 'playground');
    });
    assert.deepEqual(ann.errors(), []);
  });

  it('shows costs that add up to the ledger, whatever they are grouped by', async (test) => {
    for (let index = 0; index < 3; index += 1)
      await at.gateway.ask('/v1/chat/completions', {
        model: 'demo/echo',
        messages: [{ role: 'user', content: 'how much' }],
      });
    const ann = await admin(test, '/costs?by=key&within=model');
    const { resources } = (await api("/api/usage?expand=resources&filter[]=by='total'")) as {
      resources: { requests: number; cost_usd: number }[];
    };
    await ann.page.getByRole('cell', { name: 'Total' }).waitFor();
    const cells = (place: string) => ann.page.locator(`table ${place} td:nth-child(3)`).allInnerTexts();
    const amounts = (await cells('tbody')).map((text) => (text === '–' ? null : amountIn(text)));
    assert.deepEqual((await cells('tfoot')).map(amountIn), [sumOfMoney(amounts) ?? 0]);
    assert.equal(sumOfMoney(amounts), resources[0]?.cost_usd);
    const requests = await ann.page.locator('table tfoot td:nth-child(4)').textContent();
    assert.equal(requests, String(resources[0]?.requests), 'as many as the ledger has');
    await ann.page.goto(`${url()}/dashboard/requests?range=30d`);
    await ann.page.getByText(`${requests} requests`).waitFor();
    assert.deepEqual(ann.errors(), []);
  });

  it('creates a budget, changes it, undoes the change, deletes and restores it', async (test) => {
    const ann = await admin(test, '/budgets');
    const budgets = async () =>
      ((await api('/api/budgets?expand=resources'))['resources'] as { limit: number }[]).map(
        ({ limit }) => limit,
      );
    await ann.page.getByRole('button', { name: 'Create budget' }).click();
    await ann.page.getByLabel(/^Limit in USD/).fill('25');
    await ann.page.getByRole('button', { name: 'Create', exact: true }).click();
    await ann.page.getByRole('meter').waitFor();
    const act = async (name: string) => {
      await ann.page.getByRole('button', { name: 'Actions for all requests' }).click();
      await ann.page.getByRole('menuitem', { name }).click();
    };
    await act('Change');
    await ann.page.getByLabel(/^Limit in USD/).fill('40');
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await ann.page.getByText('Budget of all requests changed').waitFor();
    assert.deepEqual(await budgets(), [40]);
    await ann.page.getByRole('button', { name: 'Undo' }).click();
    await waitFor('the former limit', async () => (await budgets())[0] === 25);

    // Somebody else changes it while the form is open, and again while the toast still offers to undo.
    const { resources } = (await api('/api/budgets?expand=resources')) as {
      resources: { id: string }[];
    };
    const meanwhile = async (body: object) => {
      const path = `/api/budgets/${resources[0]?.id}`;
      assert.equal((await at.call('PATCH', path, { token: at.ownerKey(), body })).status, 200);
    };
    await act('Change');
    await ann.page.getByLabel(/^Limit in USD/).fill('50');
    await meanwhile({ limit: 30, soft_percent: 70 });
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await staleNotice(ann).getByRole('row', { name: 'Limit in USD 50 30' }).waitFor();
    await staleNotice(ann).getByRole('row', { name: 'Warn at percent not changed 70' }).waitFor();
    assert.deepEqual(await budgets(), [30]);
    await staleNotice(ann).getByRole('button', { name: 'Keep mine' }).click();
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(await budgets(), [50]);
    await meanwhile({ limit: 60 });
    await ann.page.getByRole('button', { name: 'Undo' }).last().click();
    await ann.page.getByText('Not undone: somebody else has changed this since').waitFor();
    assert.deepEqual(await budgets(), [60], 'what somebody else made of it stays');
    await meanwhile({ limit: 25 });
    await ann.open('/budgets');
    await act('Delete');
    await ann.page.getByText('Budget of all requests deleted').waitFor();
    assert.deepEqual(await budgets(), []);
    await ann.page.getByRole('button', { name: 'Undo' }).last().click();
    await waitFor('the budget to be back', async () => (await budgets())[0] === 25);
    // It would refuse models without a price, which the next tests ask.
    await act('Delete');
    await waitFor('it to be gone', async () => (await budgets()).length === 0);
    assert.deepEqual(ann.errors(), []);
  });

  it('shows the editor of a key what somebody else has changed meanwhile, and asks which value to keep', async (test) => {
    const body = { name: 'shared', rpm: 10 };
    const made = await at.call('POST', '/api/keys', { token: at.ownerKey(), body });
    const [{ id }] = made.json()['results'] as [{ id: string }];
    const rates = async () => {
      const { rpm, tpm } = await api(`/api/keys/${id}`);
      return [rpm, tpm];
    };
    const edit = async ({ page }: Visitor) => {
      await page.getByRole('button', { name: 'Actions for shared' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      await page.getByRole('dialog').waitFor();
    };
    const save = async ({ page }: Visitor, rpm: string) => {
      await page.getByLabel('Requests per minute').fill(rpm);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
    };
    const closed = ({ page }: Visitor) => page.getByRole('dialog').waitFor({ state: 'detached' });
    const [ann, ben] = [await admin(test, '/api-manager'), await admin(test, '/api-manager')];
    await edit(ann);
    await edit(ben);
    await save(ann, '20');
    await closed(ann);
    await ben.page.getByLabel('Tokens per minute').fill('500');
    await save(ben, '30');
    await staleNotice(ben).getByRole('row', { name: 'Requests per minute 30 20' }).waitFor();
    await staleNotice(ben).getByRole('row', { name: 'Tokens per minute 500 empty' }).waitFor();
    assert.deepEqual(await ben.findings(), []);
    assert.deepEqual(await rates(), [20, null], 'nothing is saved before it is decided');
    await staleNotice(ben).getByRole('button', { name: 'Keep mine' }).click();
    await closed(ben);
    assert.deepEqual(await rates(), [30, 500]);

    await edit(ann);
    await save(ann, '40');
    await staleNotice(ann).getByRole('button', { name: 'Take theirs' }).click();
    await staleNotice(ann).waitFor({ state: 'detached' });
    assert.equal(await ann.page.getByLabel('Requests per minute').inputValue(), '30');
    assert.equal(await ann.page.getByLabel('Tokens per minute').inputValue(), '500');
    await save(ann, '50');
    await closed(ann);
    assert.deepEqual(await rates(), [50, 500], 'and the form goes on from theirs');
    assert.deepEqual([...ann.errors(), ...ben.errors()], []);
  });

  it('shows a model, gives it another name, and leads to trying it', async (test) => {
    const ann = await admin(test, '/models');
    await ann.page.getByRole('searchbox').fill('demo echo');
    await ann.page.getByRole('row', { name: /demo\/echo/ }).click();
    const sheet = ann.page.getByRole('dialog');
    await sheet.getByLabel('Another name for it').fill('parrot');
    await sheet.getByRole('button', { name: 'Make alias' }).click();
    await ann.page.getByText('"parrot" now leads to demo/echo').waitFor();
    const answer = await at.gateway.ask('/v1/chat/completions', {
      model: 'parrot',
      messages: [{ role: 'user', content: 'hello' }],
    });
    assert.equal(answer.status, 200);
    await sheet.getByRole('link', { name: 'Try it' }).click();
    await ann.page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
    assert.equal(await ann.page.getByRole('combobox', { name: 'Model 1' }).inputValue(), 'demo/echo');
    assert.deepEqual(ann.errors(), []);
  });

  it('shows running requests, counts by value, and the runs of tools, and narrows them by a click', async (test) => {
    const headers = { 'x-claude-code-session-id': 'run-of-a-tool', 'user-agent': 'claude-cli/2.1 (cli)' };
    for (const model of ['demo/echo', 'demo/nope'])
      await at.gateway.ask(
        '/v1/chat/completions',
        { model, messages: [{ role: 'user', content: 'hi' }] },
        headers,
      );
    const ann = await admin(test, '/requests');
    const filters = ann.page.getByRole('complementary', { name: 'Filters' });
    await ann.page.setViewportSize({ width: 1440, height: 1000 });
    await filters.getByRole('button', { name: /^claude-cli/ }).click();
    await ann.page.getByText('2 requests').waitFor();
    await filters.getByRole('button', { name: /^Failed/ }).click();
    await ann.page.getByText('1 request', { exact: true }).waitFor();
    assert.match(ann.page.url(), /client=claude-cli/);
    const menu = async (item: string) => {
      await ann.page.locator('main [aria-haspopup=menu]').first().click();
      await ann.page.getByRole('menu', { name: 'Saved views' }).getByText(item, { exact: true }).click();
    };
    for (const submit of ['Save', 'Replace']) {
      await menu('Save this view');
      await ann.page.getByRole('dialog').getByLabel(/^Name/).fill('Failures of Claude');
      await ann.page.getByRole('dialog').getByRole('button', { name: submit }).click();
      await ann.page.getByRole('button', { name: 'Failures of Claude' }).waitFor();
      if (submit === 'Save') await ann.page.getByRole('searchbox').fill('nope');
      await ann.page
        .getByRole('button', { name: 'Saved views' })
        .waitFor({ state: submit === 'Save' ? 'visible' : 'hidden' });
    }
    await ann.open('/requests');
    await menu('Failures of Claude');
    await ann.page.getByText('1 request', { exact: true }).waitFor();
    assert.match(ann.page.url(), /client=claude-cli.*outcome=failed|outcome=failed.*client=claude-cli/);
    assert.match(ann.page.url(), /q=nope/);
    await menu('Remove “Failures of Claude”');
    await waitFor('the view to be gone', async () => (await api('/api/views'))['count'] === 0);
    await ann.page.getByRole('searchbox').fill('no such text');
    await ann.page.getByText('No requests match').waitFor();
    await ann.page.getByRole('searchbox').fill('NOPE');
    await ann.page.getByText('1 request', { exact: true }).waitFor();
    await ann.page.getByRole('row', { name: /demo\/nope/ }).click();
    const sheet = ann.page.getByRole('dialog');
    await sheet.getByText(/^curl/).waitFor();
    await ann.page.keyboard.press('Escape');
    await ann.open('/requests?group=run');
    await ann.page.getByRole('row', { name: /claude-cli run-of-a/ }).click();
    await ann.page.getByText('2 requests').waitFor();
    assert.deepEqual(ann.errors(), []);
  });

  it('shows a request while it runs, and problems with the button that fixes them', async (test) => {
    const upstream = await startUpstream();
    test.after(() => upstream.close());
    const gate = Promise.withResolvers<void>();
    upstream.respond(({ path }) =>
      path.endsWith('/models')
        ? [json(200, { object: 'list', data: [{ id: 'slow-1', object: 'model' }] })]
        : [stall(gate.promise), json(200, answer)],
    );
    const made = await at.call('POST', '/api/connections', {
      token: at.ownerKey(),
      body: {
        provider: 'openai-compatible',
        name: 'slow',
        base_url: `${upstream.url}/v1`,
        default_model: 'slow-1',
      },
    });
    assert.equal(made.status, 200, made.text);
    const asked = at.gateway.ask('/v1/chat/completions', {
      model: 'slow/slow-1',
      messages: [{ role: 'user', content: 'take your time' }],
    });
    const ann = await admin(test, '/requests');
    await ann.page.getByText('1 request is running').waitFor();
    await ann.page
      .getByText(/slow\/slow-1/)
      .first()
      .waitFor();
    gate.resolve();
    assert.equal((await asked).status, 200);
    await ann.page.getByText('1 request is running').waitFor({ state: 'detached' });
    const budget = await at.call('POST', '/api/budgets', {
      token: at.ownerKey(),
      body: { metric: 'requests', period: 'week', limit: 100, soft_percent: 1 },
    });
    assert.equal(budget.status, 200, budget.text);
    await at.gateway.ask('/v1/chat/completions', { model: 'demo/echo', messages: [] });
    await ann.open('/');
    await ann.page
      .getByRole('region', { name: 'Needs attention' })
      .getByRole('link', { name: 'Change the budget' })
      .click();
    await ann.page.getByRole('heading', { name: 'Budgets', level: 1 }).waitFor();
    assert.deepEqual(ann.errors(), []);
  });

  it('shows each request once, where others arrive while somebody scrolls through the list', async (test) => {
    const client = `list-${process.pid}`;
    const ask = (count: number) =>
      Promise.all(
        Array.from({ length: count }, () =>
          at.gateway.ask(
            '/v1/chat/completions',
            { model: 'demo/echo', messages: [] },
            { 'user-agent': client },
          ),
        ),
      );
    const listed = `filter[]=client=='${client}'`;
    const counted = async (count: number) =>
      waitFor(`${count} requests`, async () => {
        const page = await api(`/api/requests?limit=1&${listed}`);
        return page['subquery_count'] === count;
      });
    await ask(230);
    await counted(230);
    const ann = await admin(test, `/requests?client=${client}`);
    await ann.page.getByText('230 requests').waitFor();
    await ask(5);
    await counted(235);
    // A page has 200 of them.
    const table = ann.page.getByRole('table', { name: 'Requests' });
    await table.getByRole('row').nth(3).hover();
    const rows = async () => Number(await table.getAttribute('aria-rowcount'));
    await waitFor('the second page', async () => {
      await ann.page.mouse.wheel(0, 4_000);
      return (await rows()) > 200;
    });
    assert.equal(await rows(), 230);
    await ann.page.getByRole('button', { name: '5 new requests' }).click();
    await waitFor('the new ones', async () => (await rows()) === 235);
    assert.deepEqual(ann.errors(), []);
  });
});
