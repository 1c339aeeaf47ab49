import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { browser, withoutChromium } from '../support/clients/chromium.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { managed } from '../support/management/management.ts';
import { buildPages } from './build.ts';
import { enter, logIn, type Visitor, visitor } from './visitor.ts';

/** Every page, and the least role that may open it. */
const pages: readonly [path: string, least: 'viewer' | 'operator' | 'admin'][] = [
  ['/', 'viewer'],
  ['/requests', 'operator'],
  ['/costs', 'viewer'],
  ['/playground', 'operator'],
  ['/cli-code', 'operator'],
  ['/cli-code/codex', 'operator'],
  ['/cli-agents', 'operator'],
  ['/acp-agents', 'operator'],
  ['/acp-agents/opencode', 'operator'],
  ['/connections', 'viewer'],
  ['/models', 'viewer'],
  ['/budgets', 'viewer'],
  ['/combos', 'viewer'],
  ['/api-manager', 'operator'],
  ['/setup', 'admin'],
  ['/events', 'viewer'],
  ['/events?view=letters', 'operator'],
  ['/events?view=tail', 'operator'],
  ['/services', 'viewer'],
  ['/services/data-plane', 'viewer'],
  ['/users', 'viewer'],
  ['/audit', 'admin'],
  ['/backups', 'admin'],
  ['/settings', 'operator'],
];

/** What opening a page may ask for: all of it, and of the API, without its stream of live events. */
const MOST_REQUESTS = 15;
const MOST_CALLS = 6;

describe('the dashboard', { skip: withoutChromium }, () => {
  before(buildPages);
  const at = managed();
  const chromium = browser();
  const url = () => `http://127.0.0.1:${at.gateway.port}`;
  const ask = () =>
    at.gateway.ask('/v1/chat/completions', {
      model: 'demo/echo',
      messages: [{ role: 'user', content: 'good morning' }],
    });

  it('is served with a strict policy, compressed, and kept by browsers where the name says the content', async () => {
    const page = await fetch(`${url()}/dashboard/requests/req_1`, { headers: { 'accept-encoding': 'gzip' } });
    const html = await page.text();
    assert.equal(page.status, 200);
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(page.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(page.headers.get('cache-control'), 'no-cache');
    assert.match(html, /<base href="\.\.\/" \/>/, 'addresses are relative to the dashboard');
    assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\son\w+=/, 'nothing is inline');
    const [script = ''] = /assets\/[\w.-]+\.js/.exec(html) ?? [];
    const asset = await fetch(`${url()}/dashboard/${script}`);
    assert.equal(asset.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.match(asset.headers.get('content-type') ?? '', /^text\/javascript/);
    const etag = asset.headers.get('etag') ?? '';
    const again = await fetch(`${url()}/dashboard/${script}`, { headers: { 'if-none-match': etag } });
    assert.deepEqual([again.status, await again.text()], [304, '']);
    const plain = await fetch(`${url()}/dashboard/${script}`, { headers: { 'accept-encoding': 'identity' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(await plain.text(), await asset.text());
    for (const path of [
      '/dashboard/assets/nope.js',
      '/dashboard/assets/..%2fmanifest.json',
      '/dashboard/nope.svg',
    ])
      assert.equal((await fetch(`${url()}${path}`)).status, 404, path);
    assert.equal((await fetch(`${url()}/dashboard`, { method: 'POST' })).status, 405);
  });

  it('leads old addresses to the new ones, and a browser from / to it', async () => {
    const moves: readonly [string, string, number, string | null][] = [
      ['/dashboard/cli-tools', '*/*', 308, '/dashboard/cli-code'],
      ['/dashboard/agents', '*/*', 308, '/dashboard/acp-agents'],
      ['/dashboard/agents/claude?x=1', '*/*', 308, '/dashboard/acp-agents/claude?x=1'],
      ['/', 'text/html,application/xhtml+xml', 302, 'dashboard'],
      ['/', 'application/json', 404, null],
    ];
    for (const [path, accept, status, location] of moves) {
      const reply = await fetch(`${url()}${path}`, { headers: { accept }, redirect: 'manual' });
      assert.deepEqual([reply.status, reply.headers.get('location')], [status, location], path);
    }
  });

  it('is refused under a name that is not allowed, and while it is stopped', async () => {
    assert.equal((await at.call('GET', '/dashboard', { host: 'evil.example' })).status, 403);
    const token = at.ownerKey();
    const act = (action: string) => at.call('POST', '/api/services/dashboard', { token, body: { action } });
    assert.equal((await act('stop')).status, 200);
    try {
      assert.equal((await fetch(`${url()}/dashboard`)).status, 503);
    } finally {
      assert.equal((await act('start')).status, 200);
    }
    assert.equal((await fetch(`${url()}/dashboard`)).status, 200);
  });

  it('logs a user in by name and password, loads little, and logs out again', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    let bytes = 0;
    ann.page.on('response', async (response) => {
      if (!response.url().endsWith('.js')) return;
      const body = await response.body().catch(() => Buffer.alloc(0));
      bytes += (await import('node:zlib')).gzipSync(body).byteLength;
    });
    await ann.open('');
    assert.deepEqual(await ann.findings(), []);
    await ann.page.getByLabel(/Password/).fill('wrong');
    await ann.page.getByRole('button', { name: 'Log in' }).click();
    await ann.page.getByText('The user name or password is wrong').waitFor();
    ann.errors();
    await logIn(ann, 'admin', at.admin.password);
    await ann.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    assert.ok(bytes > 50_000 && bytes < 200_000, `${bytes} bytes of JavaScript, gzipped`);
    const stored = await ann.page.evaluate<string[]>('[JSON.stringify(localStorage), document.cookie]');
    assert.doesNotMatch(stored.join(), /gws_/, 'the token is in sessionStorage alone');
    await ann.page.getByRole('button', { name: /admin \(Administrator\)/ }).click();
    await ann.page.getByRole('menuitem', { name: /Log out/ }).click();
    await ann.page.getByRole('button', { name: 'Log in' }).waitFor();
    assert.deepEqual(await ann.page.evaluate<string[]>('Object.keys(sessionStorage)'), []);
    assert.deepEqual(ann.foreign(), []);
  });

  it('opens every page with few requests, without an error, a foreign request or a serious finding, wide and narrow, in both themes', async (test) => {
    const { header } = await ask();
    const paths = [...pages.map(([path]) => path), `/requests/${header('x-request-id')}`];
    // The longer texts of the two languages, and the one of which a page asks for more files.
    const ann = await visitor(chromium.running, url(), { locale: 'pt-BR' });
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    const backgrounds = new Set<string>();
    let requests: string[] = [];
    ann.page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    for (const path of paths) {
      requests = [];
      await ann.page.setViewportSize({ width: 1280, height: 800 });
      await ann.page.emulateMedia({ colorScheme: 'light' });
      await ann.open(path);
      await waitFor(
        `${path} to be loaded`,
        async () => (await ann.page.locator('[aria-busy=true]').count()) === 0,
      );
      assert.ok(requests.length <= MOST_REQUESTS, `${path} asks ${requests.length} times: ${requests}`);
      const calls = requests.filter((name) => name.startsWith('/api/') && name !== '/api/live');
      assert.ok(calls.length <= MOST_CALLS, `${path} asks the API ${calls.length} times: ${calls}`);
      assert.deepEqual(await ann.findings(), [], `${path} light`);
      backgrounds.add(await background(ann));
      // Nothing but colours is different there.
      await ann.page.emulateMedia({ colorScheme: 'dark' });
      assert.deepEqual(await ann.findings(['color-contrast']), [], `${path} dark`);
      backgrounds.add(await background(ann));
      await ann.page.setViewportSize({ width: 390, height: 844 });
      const wide = await ann.page.evaluate<number>(
        'document.documentElement.scrollWidth - window.innerWidth',
      );
      assert.ok(wide <= 0, `${path} is ${wide} px too wide at 390`);
      assert.deepEqual(ann.errors(), [], path);
    }
    assert.equal(backgrounds.size, 2, 'both themes were seen');
    assert.deepEqual(ann.foreign(), []);
  });

  it('shows a viewer what a viewer may read', async (test) => {
    const vic = await visitor(chromium.running, url());
    test.after(() => vic.close());
    await enter(vic, at, await at.person('vic', 'viewer'), 'viewer');
    await vic.open('');
    const names = await vic.page.getByRole('navigation').getByRole('link').allInnerTexts();
    assert.ok(names.includes('Overview'));
    for (const hidden of ['Requests', 'Keys']) assert.ok(!names.includes(hidden), hidden);
    assert.deepEqual(vic.errors(), []);
  });

  it('asks for the password when the login ends in the middle of work, and goes on with the work', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    const olga = await at.person('olga', 'admin');
    await enter(ann, at, olga, 'admin');
    await ann.open('/api-manager');
    await ann.page.getByRole('button', { name: 'Create key' }).click();
    await ann.page.getByLabel(/^Name/).last().fill('made after the expiry');
    const revoked = await at.call('POST', `/api/users/${olga.id}`, {
      token: at.ownerKey(),
      body: { action: 'revoke_sessions' },
    });
    assert.equal(revoked.status, 200, revoked.text);
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await ann.page.getByRole('heading', { name: 'Your login has ended' }).waitFor();
    await ann.page.getByLabel(/Password/).fill(olga.password);
    await ann.page.getByRole('button', { name: 'Log in', exact: true }).click();
    await ann.page.getByRole('heading', { name: 'Key "made after the expiry"' }).waitFor();
  });

  it('shows a request as it arrives, and why one failed', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    // The list of the overview comes late: it was read before the request, whose event has come meanwhile.
    const read = Promise.withResolvers<void>();
    const late = Promise.withResolvers<void>();
    await ann.page.route(/\/api\/requests\?.*limit=8/, async (route) => {
      const list = await route.fetch();
      read.resolve();
      await late.promise;
      await route.fulfill({ response: list });
    });
    await ann.open('');
    await ann.page.getByRole('status', { name: '' }).getByText('Live', { exact: true }).waitFor();
    await read.promise;
    const failed = await at.gateway.ask('/v1/chat/completions', { model: 'demo/nope', messages: [] });
    const id = failed.header('x-request-id') ?? '';
    late.resolve();
    await ann.page.locator(`a[href$="/requests/${id}"]`).click();
    const sheet = ann.page.getByRole('dialog');
    await sheet.getByText('the demo has no model').first().waitFor();
    await ann.page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    assert.match(ann.page.url(), /\/dashboard\/requests$/);
    assert.deepEqual(ann.errors(), []);
  });

  it('shows a card for each tool that can be pointed at the gateway, and sets one up and back', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    const cards = () => ann.page.locator('[data-tool]').count();
    await ann.open('/cli-agents');
    await waitFor('the agents', async () => (await cards()) === 8);
    await ann.open('/cli-code');
    await waitFor('the coding tools', async () => (await cards()) === 21);
    await ann.page.getByRole('searchbox').fill('codex');
    await ann.page.locator('[data-tool=codex]').click();
    await ann.page.getByRole('heading', { name: /Codex/, level: 1 }).waitFor();
    await ann.page.getByLabel(/^Model/).fill('demo/echo');
    await ann.page.getByRole('button', { name: 'Show what would be written' }).click();
    await ann.page.getByText('model_providers').first().waitFor();
    const file = join(at.gateway.home, '.codex', 'config.toml');
    assert.equal(existsSync(file), false, 'showing writes nothing');
    await ann.page.getByRole('button', { name: 'Write this' }).click();
    await ann.page.getByText(/points at this gateway$/).waitFor();
    assert.match(readFileSync(file, 'utf8'), new RegExp(`127\\.0\\.0\\.1:${at.gateway.port}`));
    await ann.page.getByRole('button', { name: 'Restore' }).click();
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Restore' }).click();
    await waitFor('the file to be as before', () => !existsSync(file) || readFileSync(file, 'utf8') === '');
    assert.deepEqual(ann.errors(), []);
  });

  it('makes a combo by keyboard and mouse, and switches what "auto" means', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/combos');
    await ann.page.getByRole('button', { name: 'Create combo' }).click();
    await ann.page.getByLabel(/^Name/).fill('smart');
    for (const target of ['demo/tools', 'demo/echo']) {
      await ann.page.getByLabel(/Add a target/).fill(target);
      await ann.page.keyboard.press('Enter');
    }
    await ann.page.getByRole('button', { name: 'Move demo/echo up' }).click();
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await ann.page.getByRole('button', { name: 'Make active' }).click();
    await ann.page.getByText('"auto" now means smart').waitFor();
    const combos = (await at.call('GET', '/api/combos?expand=resources', { token: at.ownerKey() })).json();
    const [combo] = combos['resources'] as { active: boolean; targets: { target: string }[] }[];
    assert.deepEqual(
      [combo?.active, combo?.targets.map(({ target }) => target)],
      [true, ['demo/echo', 'demo/tools']],
    );

    for (const name of ['plain', 'third']) {
      const body = { name, targets: ['demo/echo'] };
      assert.equal((await at.call('POST', '/api/combos', { token: at.ownerKey(), body })).status, 200);
    }
    const active = async () => {
      const page = await at.call('GET', '/api/combos?expand=resources', { token: at.ownerKey() });
      const rows = page.json()['resources'] as { active: boolean; name: string }[];
      return rows.flatMap((row) => (row.active ? row.name : []));
    };
    const undo = () => ann.page.getByRole('button', { name: 'Undo' }).last();
    await ann.open('/combos');
    await ann.page
      .getByRole('listitem')
      .filter({ hasText: 'plain' })
      .getByRole('button', { name: 'Make active' })
      .click();
    await ann.page.getByText('"auto" now means plain').waitFor();
    // Somebody else is faster than the undo.
    const switched = await at.call('POST', '/api/combos/third', {
      token: at.ownerKey(),
      body: { action: 'activate' },
    });
    assert.equal(switched.status, 200, switched.text);
    await undo().click();
    await ann.page.getByText('Not undone: somebody else has changed this since').waitFor();
    assert.deepEqual(await active(), ['third'], 'what somebody else made active stays so');
    assert.match(ann.errors().join(), /412/);
    await ann.page.getByRole('button', { name: /Active combo: third/ }).click();
    await ann.page.getByRole('menuitemradio', { name: 'plain' }).click();
    await ann.page.getByText('"auto" now means plain').waitFor();
    await undo().click();
    await waitFor('the former combo', async () => (await active())[0] === 'third');
    assert.deepEqual(ann.errors(), []);
  });

  it('shows names that look like HTML as text', async (test) => {
    const name = '"><img src=x onerror=alert(1)>';
    const made = await at.call('POST', '/api/keys', { token: at.ownerKey(), body: { name } });
    assert.equal(made.status, 200, made.text);
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/api-manager');
    await ann.page.getByText(name).first().waitFor();
    assert.equal(await ann.page.locator('main img').count(), 0);
    assert.deepEqual(ann.errors(), []);
  });

  it('lets an ACP agent answer, and allows it to read', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/acp-agents');
    await ann.page.getByRole('link', { name: /OpenCode/ }).click();
    await ann.page.getByRole('button', { name: 'Enable' }).click();
    await ann.page.getByRole('button', { name: 'Disable' }).waitFor();
    await ann.page.getByLabel('Read files').check();
    await ann.page.getByRole('button', { name: 'Save' }).click();
    await ann.page.getByText('Saved').waitFor();
    const agent = (await at.call('GET', '/api/acp_agents/opencode', { token: at.ownerKey() })).json();
    assert.deepEqual([agent['enabled'], agent['permissions']], [true, ['read']]);
    await ann.page.getByRole('button', { name: 'Disable' }).click();
    await ann.page.getByRole('button', { name: 'Enable' }).waitFor();
    ann.errors();
  });

  it('switches to another language, and to right-to-left, on request', async (test) => {
    const ann = await visitor(chromium.running, url(), { locale: 'pt-BR' });
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('');
    await ann.page.getByRole('heading', { name: 'Visão geral', level: 1 }).waitFor();
    await ann.page.getByRole('button', { name: 'Idioma' }).click();
    await ann.page.getByRole('menuitemradio', { name: 'עברית' }).click();
    await waitFor(
      'the direction',
      async () => (await ann.page.locator('html').getAttribute('dir')) === 'rtl',
    );
    await ann.page.reload();
    await ann.page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await ann.page.locator('html').getAttribute('lang'), 'he');
    assert.deepEqual(ann.errors(), []);
  });
});

const background = ({ page }: Visitor): Promise<string> =>
  page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
