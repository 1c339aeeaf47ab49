import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { browser, withoutChromium } from '../support/chromium.ts';
import { managed } from '../support/management.ts';
import { buildPages } from './build.ts';
import { visitor } from './visitor.ts';

const MOST_CLICKS = 6;
const MOST_FIELDS = 3;
const MOST_SECONDS = 5;

describe('the first run in the browser', { skip: withoutChromium }, () => {
  before(buildPages);
  const at = managed({ noAdmin: true });
  const chromium = browser();

  it('leads from an empty data directory to the first answered request in a few clicks and fields', async (test) => {
    const url = `http://127.0.0.1:${at.gateway.port}`;
    const ann = await visitor(chromium.running, url);
    test.after(() => ann.close());
    const { page } = ann;
    const code = readFileSync(join(at.gateway.dataDir, 'setup.code'), 'utf8').trim();
    const counts = { clicks: 0, fields: 0 };
    const click = async (name: string | RegExp) => {
      counts.clicks += 1;
      await page.getByRole('button', { name }).click();
    };
    const fill = async (label: RegExp, text: string) => {
      counts.fields += 1;
      await page.getByLabel(label).fill(text);
    };
    // Whoever opens the page waits for it before they do anything, as here.
    await ann.open('');
    const cpuBefore = process.cpuUsage();
    const begun = performance.now();
    await fill(/^Setup code/, code);
    await fill(/^Password/, 'a long secret of admin');
    await click('Create the administrator');
    await page.getByRole('heading', { name: 'Set up', level: 1 }).waitFor();
    await click('Use the demo');
    await click('Create key');
    const command = page.getByText(/^curl /);
    await command.waitFor();
    const seconds = (performance.now() - begun) / 1000;
    const text = (await command.textContent()) ?? '';
    assert.match(text, new RegExp(`^curl ${url}/v1/chat/completions`));
    assert.deepEqual(await ann.findings(), []);
    const shell = promisify(execFile)('sh', ['-c', `${text} --silent --fail`]);
    const asked = performance.now();
    assert.match((await shell).stdout, /hello/);
    await page.getByText('Answered', { exact: true }).waitFor();
    const total = seconds + (performance.now() - asked) / 1000;
    test.diagnostic(`${counts.clicks} clicks, ${counts.fields} fields, ${total.toFixed(1)} s`);
    assert.ok(counts.clicks <= MOST_CLICKS && counts.fields <= MOST_FIELDS, JSON.stringify(counts));
    // A machine that is busy with something else is slower, and this is about the pages.
    const { system, user } = process.cpuUsage(cpuBefore);
    assert.ok((system + user) / 1e6 < MOST_SECONDS, `${(system + user) / 1e6} s of CPU to steer it`);
    await page.getByRole('link', { name: 'To the overview' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    // Only the demo is there: the way back stays in sight.
    await page.getByRole('link', { name: 'Continue the setup' }).click();
    await page.getByRole('heading', { name: 'Set up', level: 1 }).waitFor();
    assert.deepEqual(ann.errors(), []);
    assert.deepEqual(ann.foreign(), []);
  });

  it('says what is wrong with a code, and keeps the page', async (test) => {
    const url = `http://127.0.0.1:${at.gateway.port}`;
    const ann = await visitor(chromium.running, url);
    test.after(() => ann.close());
    await ann.open('');
    // There is an admin by now, so that a login is asked for.
    await ann.page.getByRole('button', { name: 'Log in' }).waitFor();
    assert.deepEqual(ann.errors(), []);
  });
});
