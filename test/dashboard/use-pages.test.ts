import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { sumOfMoney } from '../../dashboard/src/lib/format/numbers.ts';
import { browser, withoutChromium } from '../support/chromium.ts';
import { waitFor } from '../support/gateway.ts';
import { managed } from '../support/management.ts';
import { enter, visitor } from './visitor.ts';

/** An amount as a page shows it: `$1.25`. */
function amountIn(text: string | null): number {
  return Number((text ?? '').replace(/[^\d.-]/g, ''));
}

describe('the pages for using the gateway', { skip: withoutChromium }, () => {
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
      assert.deepEqual([request['format'], request['tags']], [format, ['playground']]);
      await ann.page.getByRole('region', { name: 'Model 2' }).getByText('Done').waitFor();
    }
    await ann.page.getByRole('button', { name: 'As code' }).click();
    await ann.page.getByText('curl -N').waitFor();
    await ann.page.keyboard.press('Escape');
    await ann.page.getByRole('combobox', { name: 'Model 1' }).fill('demo/nope');
    await ann.page.getByRole('button', { name: 'Send' }).click();
    await ann.page.getByRole('alert').getByText(/nope/).waitFor();
    ann.errors();
  });

  it('shows costs that add up to the ledger, whatever they are parted by', async (test) => {
    for (let index = 0; index < 3; index += 1)
      await at.gateway.ask('/v1/chat/completions', {
        model: 'demo/echo',
        messages: [{ role: 'user', content: 'how much' }],
      });
    const ann = await admin(test, '/costs?by=key&within=model');
    const { resources } = (await api("/api/usage?expand=resources&filter[]=by='total'")) as unknown as {
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

  it('makes a budget, changes it, takes the change back, deletes it and has it back', async (test) => {
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
    await act('Delete');
    await ann.page.getByText('Budget of all requests deleted').waitFor();
    assert.deepEqual(await budgets(), []);
    await ann.page.getByRole('button', { name: 'Undo' }).last().click();
    await waitFor('the budget to be back', async () => (await budgets())[0] === 25);
    assert.deepEqual(ann.errors(), []);
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
});
