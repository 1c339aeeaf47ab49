import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { browser, withoutChromium } from '../support/clients/chromium.ts';
import { managed } from '../support/management/management.ts';
import { buildPages } from './build.ts';
import { visitor } from './visitor.ts';

const MOST_CLICKS = 6;
const MOST_FIELDS = 3;
const MOST_SECONDS = 5;
/** Ticks of `/proc/PID/stat` in a second: `getconf CLK_TCK`, which is 100 on every Linux. */
const TICKS = 100;

describe('the first run in the browser', { skip: withoutChromium }, () => {
  before(buildPages);
  const at = managed({ noAdmin: true, realHashes: true });
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
    const cpu = await ann.context.newCDPSession(page);
    await cpu.send('Performance.enable', { timeDomain: 'threadTicks' });
    const pageSeconds = async () => {
      const { metrics } = await cpu.send('Performance.getMetrics');
      return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0;
    };
    // What is run from its sources is translated while it starts, which what is installed is not.
    const translated = process.env['TESTED_PROGRAM'] === undefined ? gatewaySeconds(at.gateway.pid) : 0;
    await ann.open('');
    const begun = performance.now();
    await fill(/^Setup code/, code);
    await fill(/^Password/, 'a long secret of admin');
    await click('Create the administrator');
    await page.getByRole('heading', { name: 'Set up', level: 1 }).waitFor();
    await click('Use the demo');
    await click('Create key');
    const command = page.getByText(/^curl /);
    await command.waitFor();
    const text = (await command.textContent()) ?? '';
    assert.match(text, new RegExp(`^curl ${url}/v1/chat/completions`));
    const shell = promisify(execFile)('sh', ['-c', `${text} --silent --fail`]);
    assert.match((await shell).stdout, /hello/);
    await page.getByText('Answered', { exact: true }).waitFor();
    const wall = (performance.now() - begun) / 1000;
    const waits = { gateway: gatewaySeconds(at.gateway.pid) - translated, page: await pageSeconds() };
    test.diagnostic(
      `${counts.clicks} clicks, ${counts.fields} fields; ${waits.gateway.toFixed(1)} s of the gateway and ${waits.page.toFixed(1)} s of the page, ${wall.toFixed(1)} s by the clock of this machine`,
    );
    assert.ok(counts.clicks <= MOST_CLICKS && counts.fields <= MOST_FIELDS, JSON.stringify(counts));
    // How long the product itself makes a person wait: the CPU time of the gateway from its start on, with the real work
    // of hashing passwords, and of the page from its opening on. Neither grows with what else the machine does, as the
    // clock does; and nothing here waits for a timer. How fast the person is, is not in it.
    assert.ok(waits.gateway > 0 && waits.page > 0, JSON.stringify(waits));
    assert.ok(waits.gateway + waits.page < MOST_SECONDS, JSON.stringify(waits));
    assert.deepEqual(await ann.findings(), []);
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

/** The CPU time that a process has taken since its start, in seconds. */
function gatewaySeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program, in parentheses, may have blanks; utime and stime are the 12th and 13th after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
