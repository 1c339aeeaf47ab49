/**
 * Measures the dashboard over a ledger of 100,000 requests: what each page asks, how far it moves while it loads, and the
 * longest task of the page while the list of requests is scrolled and filtered, in CPU time: what else the machine does
 * makes a pause longer, but is nothing that the page could mend.
 *
 *   npm run pages:speed                     makes the data first, which takes a minute
 *   npm run pages:speed -- --requests 20000
 *
 * Exit 1 when a page asks more than 15 times or the API more than 6 times, moves by more than 0.05, or when a task takes
 * more than 100 ms in the best of three runs, or when the list was not really scrolled and filtered.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { navigation } from '../dashboard/src/app/navigation.ts';
import { demoGateways, logIn } from './demo-gateway.ts';
import { type MainTask, mainTasks } from './page-trace.ts';

const MOST_REQUESTS = 15;
/** One of them is that of the combos in the header of every page. */
const MOST_CALLS = 6;
const MOST_SHIFT = 0.05;
const LONGEST_TASK_MS = 100;
const RUNS = 3;
const WHEEL_STEPS = 60;
const WHEEL_PX = 3_000;
/** So many rows are passed at least, in pages of 200 that are loaded on the way. */
const LEAST_ROWS = 1_000;
const LOAD_MS = 60_000;

/** What a page notes about itself: a script for the page, whose types are a browser's. */
const watchPage = `
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) shift += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

const {
  values: { requests },
} = parseArgs({ options: { requests: { type: 'string', default: '100000' } } });
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
      const { all, calls, shift } = await loaded(context, url, to);
      tell(`${to} requests`, all, MOST_REQUESTS);
      tell(`${to} calls of the API`, calls, MOST_CALLS);
      tell(`${to} layout shift`, Math.round(shift * 1000) / 1000, MOST_SHIFT);
    }
    const walks: Walk[] = [];
    for (let run = 0; run < RUNS; run += 1) walks.push(await walked(browser, context, url));
    for (const what of ['scroll', 'filter'] as const) {
      const [best] = walks.map((walk) => walk[what]).sort((a, b) => a.cpuMs - b.cpuMs);
      if (best === undefined) continue;
      tell(`longest task in ms of CPU, ${what} ${requests} requests`, best.cpuMs, LONGEST_TASK_MS);
      process.stdout.write(`          of which ${best.parts.join(', ')}\n`);
    }
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
): Promise<{ all: number; calls: number; shift: number }> {
  const page = await context.newPage();
  let all = 0;
  let calls = 0;
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    all += 1;
    // The stream of live events is one for all pages.
    if (pathname.startsWith('/api/') && pathname !== '/api/live') calls += 1;
  });
  await settled(page, url, path);
  const shift = await page.evaluate<number>('shift');
  await page.close();
  return { all, calls, shift };
}

async function settled(page: Page, url: string, path: string): Promise<void> {
  await page.goto(`${url}/dashboard${path === '/' ? '' : path}`, { timeout: LOAD_MS });
  await page.locator('h1').first().waitFor({ timeout: LOAD_MS });
  await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached', timeout: LOAD_MS });
}

/** The longest task in each. */
interface Walk {
  scroll: MainTask;
  filter: MainTask;
}

/**
 * Scrolls through the list of requests and filters it.
 * @throws Error where it did not move, or the filters left as many requests as there were
 */
async function walked(browser: Browser, context: BrowserContext, url: string): Promise<Walk> {
  const page = await context.newPage();
  await settled(page, url, '/requests?range=30d');
  const rows = page.locator('tbody tr[aria-rowindex]');
  await rows.first().waitFor({ timeout: LOAD_MS });
  await rows.first().hover();
  const [scroll] = await mainTasks(browser, page, async () => {
    for (let step = 0; step < WHEEL_STEPS; step += 1) {
      await page.mouse.wheel(0, WHEEL_PX);
      await page.evaluate('new Promise(requestAnimationFrame)');
    }
  });
  const passed = Number(await rows.last().getAttribute('aria-rowindex'));
  if (passed < LEAST_ROWS) throw new Error(`only ${passed} rows were scrolled past`);

  const counts: string[] = [];
  const narrowed = async (act: () => Promise<unknown>) => {
    const answered = ['/api/requests?', '/api/request_counts?'].map((path) =>
      page.waitForResponse((response) => response.url().includes(path), { timeout: LOAD_MS }),
    );
    await act();
    await Promise.all(answered);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    await rows.first().waitFor({ timeout: LOAD_MS });
    counts.push((await page.getByText(/^[\d,]+ requests?$/).textContent()) ?? '');
  };
  const [filter] = await mainTasks(browser, page, async () => {
    await narrowed(() => page.getByRole('button', { name: 'Errors' }).click());
    await narrowed(() => page.getByRole('button', { name: /^Slow/ }).click());
    await narrowed(() => page.getByRole('searchbox').fill('claude'));
  });
  if (new Set(counts).size !== counts.length) throw new Error(`the filters left ${counts.join(', then ')}`);
  if (scroll === undefined || filter === undefined) throw new Error('the page did nothing');
  process.stdout.write(`          scrolled past ${passed} rows, then filtered: ${counts.join(', ')}\n`);
  await page.close();
  return { scroll, filter };
}
