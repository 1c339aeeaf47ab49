import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { browser, withoutChromium } from '../support/clients/chromium.ts';
import { managed } from '../support/management/management.ts';
import { buildPages } from './build.ts';
import { enter, visitor } from './visitor.ts';

describe('the pages of tools', { skip: withoutChromium }, () => {
  before(buildPages);
  const at = managed();
  const chromium = browser();

  it('make a key for a tool, write it, prove that it works, and take a tool of one’s own', async (test) => {
    const ann = await visitor(chromium.running, `http://127.0.0.1:${at.gateway.port}`);
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/cli-code/aider');
    await ann.page.getByLabel(/^Model/).fill('demo/tools');
    await ann.page.getByRole('button', { name: 'Make a key' }).click();
    await ann.page.getByText(/was created/).waitFor();
    await ann.page.getByRole('button', { name: 'Show what would be written' }).click();
    await ann.page.getByRole('button', { name: 'Write this' }).click();
    await ann.page.getByText(/points at this gateway$/).waitFor();
    await ann.page.getByRole('button', { name: 'Send a request' }).click();
    await ann.page.getByText('It works').waitFor();
    const shown = (await ann.page.getByRole('link', { name: 'See the request' }).getAttribute('href')) ?? '';
    const entry = await at.gateway.entry(/req_\w+/.exec(shown)?.[0]);
    assert.deepEqual([entry.model, entry.outcome], ['tools', 'ok']);
    assert.match(entry.key_name ?? '', /^aider /);
    await ann.open('/cli-code/custom');
    await ann.page.getByLabel(/^Id/).fill('my-agent');
    await ann.page.getByLabel(/^Name/).fill('My agent');
    await ann.page.getByRole('button', { name: 'Add the tool' }).click();
    await ann.page.getByRole('heading', { name: 'My agent', level: 1 }).waitFor();
    await ann.page.getByText('export OPENAI_BASE_URL=').waitFor();
    await ann.page.getByLabel('Gateway key').fill('sk-of-mine');
    await ann.page.getByText('sk-of-mine').waitFor();
    await ann.page.getByRole('button', { name: 'Remove this tool' }).click();
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Remove this tool' }).click();
    await ann.page.getByRole('heading', { name: 'Coding tools', level: 1 }).waitFor();
    assert.deepEqual(ann.errors(), []);
  });
});
