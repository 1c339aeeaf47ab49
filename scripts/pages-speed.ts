/**
 * Measures the dashboard over a ledger of 100,000 requests: what each page asks, how far it moves while it loads, and the
 * longest pause of the page while the list of requests is scrolled and filtered.
 *
 *   npm run pages:speed                     makes the data first, which takes a minute
 *   npm run pages:speed -- --requests 20000
 *
 * Exit 1 when a page asks the API more than 7 times, moves by more than 0.05, or pauses for more than 100 ms in the best
 * of three runs.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { navigation } from '../dashboard/src/app/navigation.ts';
import { demoGateways, logIn } from './demo-gateway.ts';

/** One of them is that of the combos in the header of every page. */
const MOST_CALLS = 7;
const MOST_SHIFT = 0.05;
const LONGEST_PAUSE_MS = 100;
const RUNS = 3;
const LOAD_MS = 60_000;

/** What a page notes about itself: a script for the page, whose types are a browser's. */
const watchPage = `
  globalThis.seen = { shift: 0, pause: 0 };
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) seen.shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.pause = Math.max(seen.pause, Math.round(duration));
  }).observe({ type: 'longtask' });
`;

const at = process.argv.indexOf('--requests');
const requests = at === -1 ? '100000' : (process.argv[at + 1] ?? '100000');
const folder = mkdtempSync(join(tmpdir(), 'gateway-speed-'));
const gateways = demoGateways(join(folder, 'home'));
try {
  process.exitCode = await measured();
} finally {
  await gateways.close();
  rmSync(folder, { recursive: true, force: true });
}

/** @returns the exit code */
async function measured(): Promise<number> {
  const dataDir = join(folder, 'data');
  const made = await gateways.output(['demo-data', dataDir, '--requests', requests, '--json']);
  const { password } = JSON.parse(made) as { password: string };
  const url = await gateways.serve(dataDir);
  const token = await logIn(url, 'admin', password);
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
  });
  let faults = 0;
  const tell = (what: string, value: number, most: number) => {
    if (value > most) faults += 1;
    process.stdout.write(`${value > most ? 'TOO MUCH' : 'ok      '}  ${what}: ${value} (at most ${most})\n`);
  };
  try {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US' });
    const login = { token, expiresAt: Date.now() + 3_600_000, user: 'admin', role: 'admin', version: '0' };
    await context.addInitScript(([key, value]) => sessionStorage.setItem(key, value), [
      'modelgate.session:/dashboard',
      JSON.stringify(login),
    ] as const);
    await context.addInitScript({ content: watchPage });
    for (const { to } of navigation.flatMap(({ items }) => items)) {
      const { calls, shift } = await loaded(context, url, to);
      tell(`${to} calls of the API`, calls, MOST_CALLS);
      tell(`${to} layout shift`, Math.round(shift * 1000) / 1000, MOST_SHIFT);
    }
    const pauses: Pauses[] = [];
    for (let run = 0; run < RUNS; run += 1) pauses.push(await walked(context, url));
    for (const what of ['scroll', 'filter'] as const)
      tell(
        `longest pause in ms, ${what} ${requests} requests`,
        Math.min(...pauses.map((one) => one[what])),
        LONGEST_PAUSE_MS,
      );
  } finally {
    await browser.close();
  }
  return faults === 0 ? 0 : 1;
}

/** Opens a page and waits until it has loaded all. */
async function loaded(
  context: BrowserContext,
  url: string,
  path: string,
): Promise<{ calls: number; shift: number }> {
  const page = await context.newPage();
  let calls = 0;
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    // The stream of live events is one for all pages.
    if (pathname.startsWith('/api/') && pathname !== '/api/live') calls += 1;
  });
  await settled(page, url, path);
  const shift = await page.evaluate<number>('seen.shift');
  await page.close();
  return { calls, shift };
}

async function settled(page: Page, url: string, path: string): Promise<void> {
  await page.goto(`${url}/dashboard${path === '/' ? '' : path}`, { timeout: LOAD_MS });
  await page.locator('h1').first().waitFor({ timeout: LOAD_MS });
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached', timeout: LOAD_MS });
}

/** The longest pauses in milliseconds. */
interface Pauses {
  scroll: number;
  filter: number;
}

/** Scrolls through the list of requests and filters it. */
async function walked(context: BrowserContext, url: string): Promise<Pauses> {
  const page = await context.newPage();
  await settled(page, url, '/requests?range=30d');
  const longest = async (): Promise<number> => {
    const pause = await page.evaluate<number>('seen.pause');
    await page.evaluate('seen.pause = 0');
    return pause;
  };
  const rows = page.locator('tbody tr[aria-rowindex]');
  await rows.first().waitFor({ timeout: LOAD_MS });
  await longest();
  await rows.first().hover();
  for (let step = 0; step < 60; step += 1) {
    await page.mouse.wheel(0, 3_000);
    await page.evaluate('new Promise(requestAnimationFrame)');
  }
  const scroll = await longest();
  const narrowed = async (act: () => Promise<unknown>) => {
    const answered = page.waitForResponse((response) => response.url().includes('/api/requests?'), {
      timeout: LOAD_MS,
    });
    await act();
    await answered;
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  };
  await narrowed(() => page.getByRole('button', { name: 'Errors' }).click());
  await narrowed(() => page.getByRole('button', { name: /^Slow/ }).click());
  await narrowed(() => page.getByRole('searchbox').fill('claude'));
  const filter = await longest();
  await page.close();
  return { scroll, filter };
}
