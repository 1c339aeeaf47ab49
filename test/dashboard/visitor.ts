import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { PATIENCE_MS } from '../support/machine/patience.ts';
import type { Managed, Person } from '../support/management/management.ts';

const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Somebody with a browser window of their own, in which nothing may go wrong unseen. */
export interface Visitor {
  page: Page;
  context: BrowserContext;
  /** Opens a page of the dashboard and waits for its heading. */
  open(path: string): Promise<void>;
  /** Errors of the console and of scripts since the last look. */
  errors(): string[];
  /** Requests that left for another place than the gateway. */
  foreign(): string[];
  /** Serious findings of axe on the page as it is, by all rules or by these alone. */
  findings(rules?: readonly string[]): Promise<string[]>;
  close(): Promise<void>;
}

/** @param known text that may stand in errors, such as a 401 that a test asks for */
export async function visitor(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    locale: 'en-US',
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  page.setDefaultNavigationTimeout(PATIENCE_MS);
  let errors: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
  return {
    page,
    context,
    async open(path) {
      await page.goto(`${url}/dashboard${path}`);
      await page.locator('h1').first().waitFor();
    },
    errors() {
      const seen = errors;
      errors = [];
      return seen;
    },
    foreign: () => foreign,
    async findings(rules) {
      // Evaluated from outside, for the page's policy lets no script in.
      if (!(await page.evaluate<boolean>("typeof axe !== 'undefined'")))
        await page.evaluate(readFileSync(axePath, 'utf8'));
      // What still fades in has other colours than those that people read.
      await page.evaluate(
        'Promise.allSettled(document.getAnimations().map((animation) => animation.finished)).then(() => null)',
      );
      const found = await page.evaluate<{ id: string; impact: string; nodes: { html: string }[] }[]>(
        `axe.run(${JSON.stringify({
          resultTypes: ['violations'],
          ...(rules === undefined ? {} : { runOnly: rules }),
        })}).then(({ violations }) => violations)`,
      );
      return found
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
    },
    close: () => context.close(),
  };
}

/** Logs somebody in by the form. */
export async function logIn({ page }: Visitor, name: string, password: string): Promise<void> {
  await page.getByLabel(/User name/).fill(name);
  await page.getByLabel(/Password/).fill(password);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('banner').waitFor();
}

/** What a form says where somebody else was faster, with which of the two is to stay. */
export const staleNotice = ({ page }: Visitor) =>
  page.getByRole('region', { name: 'Somebody else has changed this meanwhile' });

/** Lets a window begin with a token, as if its user had logged in there. */
export async function enter(visiting: Visitor, at: Managed, person: Person, role: string): Promise<void> {
  const reply = await at.call('GET', '/api/auth?requester_type=ui', {
    basic: [person.name, person.password],
  });
  assert.equal(reply.status, 200, reply.text);
  const login = {
    token: String(reply.json()['auth_token']),
    // A clock of the gateway's own may be ahead.
    expiresAt: Date.now() + 3_600_000,
    user: person.name,
    role,
    version: '0',
  };
  await visiting.page.addInitScript(
    ([key, value]) => {
      if (sessionStorage.getItem(key) === null && sessionStorage.getItem('entered') === null) {
        sessionStorage.setItem(key, value);
        sessionStorage.setItem('entered', 'yes');
      }
    },
    ['modelgate.session:/dashboard', JSON.stringify(login)] as const,
  );
}
