/**
 * Photographs every page of the dashboard into `.scratch/pages`, which git ignores: light and dark, wide and narrow,
 * English and Portuguese, full (`gateway demo-data`) and empty, as an administrator and as a viewer.
 *
 *   npm run pages                       every page in each of the ways
 *   npm run pages -- /combos /cli-code  these pages and what is below them
 *   npm run pages -- --light            in one way only: light, wide, English, full, administrator
 *   npm run pages -- --look=pt-BR       in the ways that have this: viewer, empty, dark, 390, …
 *
 * Beside the pictures stands a sheet for each way, with all its pages side by side, to look at first.
 * Exit 1 when a page logs an error, asks a foreign host, or is wider than the window.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Browser, chromium } from 'playwright-core';
import { navigation } from '../dashboard/src/app/navigation.ts';
import { type Role, reaches } from '../dashboard/src/lib/api/session.ts';
import { demoGateways, logIn } from './demo-gateway.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, '.scratch', 'pages');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
const LOAD_MS = 30_000;

/** How a page is looked at. */
interface Look {
  data: 'full' | 'empty';
  role: Extract<Role, 'admin' | 'viewer'>;
  language: 'en-US' | 'pt-BR';
  theme: 'light' | 'dark';
  width: 1440 | 390;
}

const usual: Look = { data: 'full', role: 'admin', language: 'en-US', theme: 'light', width: 1440 };
const looks: readonly Look[] = [
  usual,
  { ...usual, theme: 'dark' },
  { ...usual, width: 390 },
  { ...usual, theme: 'dark', width: 390 },
  { ...usual, language: 'pt-BR' },
  { ...usual, language: 'pt-BR', width: 390 },
  { ...usual, data: 'empty' },
  { ...usual, role: 'viewer' },
  { ...usual, role: 'viewer', width: 390 },
];

/** Pages below those of the navigation. */
const details: readonly { path: string; least: Role }[] = [
  { path: '/cli-code/codex', least: 'operator' },
  { path: '/cli-agents/openclaw', least: 'operator' },
  { path: '/acp-agents/opencode', least: 'operator' },
];

const { positionals: prefixes, values: flags } = parseArgs({
  options: {
    light: { type: 'boolean', default: false },
    look: { type: 'string', multiple: true, default: [] },
  },
  allowPositionals: true,
});
const isChosen = (path: string) =>
  prefixes.length === 0 || prefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
const pages = [
  ...navigation.flatMap(({ items }) => items.map(({ least, to }) => ({ path: String(to), least }))),
  ...details,
].filter(({ path }) => isChosen(path));
const chosenLooks = flags.light
  ? [usual]
  : looks.filter((look) => flags.look.every((word) => Object.values(look).map(String).includes(word)));
if (pages.length === 0) throw new Error(`the dashboard has no page ${prefixes.join(' or ')}`);
if (chosenLooks.length === 0)
  throw new Error(`no picture is made with --look=${flags.look.join(' --look=')}`);

const folder = mkdtempSync(join(tmpdir(), 'gateway-pages-'));
// What is installed here belongs into no picture.
const gateways = demoGateways(join(folder, 'home'));
try {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  process.exitCode = await photographed();
} finally {
  await gateways.close();
  rmSync(folder, { recursive: true, force: true });
}

/** @returns the exit code */
async function photographed(): Promise<number> {
  const full = await fullGateway();
  const empty = chosenLooks.some(({ data }) => data === 'empty') ? await emptyGateway() : null;
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu'],
  });
  const faults: string[] = [];
  try {
    for (const look of chosenLooks) {
      const gateway = look.data === 'empty' ? empty : full;
      if (gateway !== null) faults.push(...(await photograph(browser, gateway, look)));
    }
  } finally {
    await browser.close();
  }
  for (const fault of faults) process.stderr.write(`${fault}\n`);
  process.stdout.write(`${target}: ${pages.length} pages, ${faults.length} faults\n`);
  return faults.length === 0 ? 0 : 1;
}

interface Gateway {
  url: string;
  /** A login by role. */
  tokens: Readonly<Partial<Record<Look['role'], string>>>;
}

async function fullGateway(): Promise<Gateway> {
  const dataDir = join(folder, 'full');
  const made = await gateways.output(['demo-data', dataDir, '--json']);
  const { password } = JSON.parse(made) as { password: string };
  const url = await gateways.serve(dataDir);
  const [admin, viewer] = [await logIn(url, 'admin', password), await logIn(url, 'vera', password)];
  return { url, tokens: { admin, viewer } };
}

async function emptyGateway(): Promise<Gateway> {
  const dataDir = join(folder, 'empty');
  const url = await gateways.serve(dataDir);
  const code = readFileSync(join(dataDir, 'setup.code'), 'utf8').trim();
  const password = 'a password for pictures';
  const reply = await fetch(`${url}/api/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code, password }),
  });
  if (!reply.ok) throw new Error(`setup: ${await reply.text()}`);
  return { url, tokens: { admin: await logIn(url, 'admin', password) } };
}

/** Photographs the pages as one look has it. @returns what is wrong with them */
async function photograph(browser: Browser, { tokens, url }: Gateway, look: Look): Promise<string[]> {
  const { language, role, theme, width } = look;
  const faults: string[] = [];
  const context = await browser.newContext({
    viewport: { width, height: width === 390 ? 844 : 900 },
    locale: language,
    colorScheme: theme,
    reducedMotion: 'reduce',
  });
  const login = {
    token: tokens[role],
    expiresAt: Date.now() + 3_600_000,
    user: role === 'viewer' ? 'vera' : 'admin',
    role,
    version,
  };
  await context.addInitScript(([key, value]) => sessionStorage.setItem(key, value), [
    'modelgate.session:/dashboard',
    JSON.stringify(login),
  ] as const);
  const page = await context.newPage();
  const taken: string[] = [];
  let path = '';
  const note = (fault: string) => faults.push(`${path} (${Object.values(look).join(' ')}): ${fault}`);
  page.on('console', (message) => message.type() === 'error' && note(message.text()));
  page.on('pageerror', (error) => note(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) note(request.url());
  });
  for (const { least, path: next } of pages) {
    if (!reaches(role, least)) continue;
    path = next;
    await page.goto(`${url}/dashboard${path === '/' ? '' : path}`, { timeout: LOAD_MS });
    await page.locator('h1').first().waitFor({ timeout: LOAD_MS });
    await page.locator('[aria-busy=true]').first().waitFor({ state: 'detached', timeout: LOAD_MS });
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - window.innerWidth');
    if (wide > 0) note(`${wide} px wider than the window`);
    const name = `${path === '/' ? 'overview' : path.slice(1).replaceAll('/', '-')}.${Object.values(look).join('-')}.png`;
    await page.screenshot({ path: join(target, name), fullPage: true });
    taken.push(name);
  }
  await context.close();
  await drawSheet(browser, `sheet.${Object.values(look).join('-')}.png`, taken);
  return faults;
}

/** Puts the upper part of pictures side by side in one, each with its name. */
async function drawSheet(browser: Browser, name: string, pictures: readonly string[]): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1800, height: 900 } });
  const figures = pictures.map((picture) => {
    const data = readFileSync(join(target, picture)).toString('base64');
    return `<figure><div><img src="data:image/png;base64,${data}"></div><figcaption>${picture.split('.')[0]}</figcaption></figure>`;
  });
  await page.setContent(
    `<style>body { display: grid; grid-template-columns: repeat(4, 1fr); gap: 12px; margin: 12px; font: 14px sans-serif; background: #888 }
      figure { margin: 0; background: #fff } div { height: 420px; overflow: hidden } img { width: 100% }
      figcaption { padding: 4px }</style>${figures.join('')}`,
    { timeout: LOAD_MS },
  );
  await page.screenshot({ path: join(target, name), fullPage: true });
  await page.close();
}
