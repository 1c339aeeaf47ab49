import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { navigation } from '../../dashboard/src/app/navigation.ts';
import { browser, site, withoutChromium } from '../support/clients/chromium.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { managed } from '../support/management/management.ts';
import { buildPages } from './build.ts';
import { enter, type Visitor, visitor } from './visitor.ts';

/** A name that would run a script if it were taken for HTML. */
const canary = `"><img src=x onerror=canary=1><b id=canary>'`;

describe('the dashboard before hostile names, sites and clocks', { skip: withoutChromium }, () => {
  before(buildPages);
  const at = managed();
  const chromium = browser();
  const hostile = site();
  const url = () => `http://127.0.0.1:${at.gateway.port}`;
  const owner = () => ({ token: at.ownerKey() });
  const post = async (path: string, body: object) => {
    const reply = await at.call('POST', `/api/${path}`, { ...owner(), body });
    assert.equal(reply.status, 200, reply.text);
    return (reply.json()['results'] as { id: string; key: string }[] | undefined)?.[0];
  };

  /** An upstream that lists and answers what nobody wants, but for one model that answers as it should. */
  const upstream = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    if (request.url?.startsWith('/locked') === true) {
      response.statusCode = 401;
      return response.end(
        JSON.stringify({ error: { message: `locked: ${canary}`, type: canary, code: canary } }),
      );
    }
    if (request.method === 'GET') {
      const models = ['gpt-5-mini', `bad-${canary}`].map((id) => ({ id, object: 'model' }));
      return response.end(JSON.stringify({ object: 'list', data: models }));
    }
    let text = '';
    request.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
    return request.on('end', () => {
      if (!text.includes('"gpt-5-mini"')) {
        response.statusCode = 400;
        return response.end(JSON.stringify({ error: { message: `wrong: ${canary}`, type: canary } }));
      }
      const message = { role: 'assistant', content: 'good morning' };
      return response.end(
        JSON.stringify({
          id: 'x',
          object: 'chat.completion',
          created: 1,
          model: 'gpt-5-mini',
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage: { prompt_tokens: 123_457, completion_tokens: 7_891, total_tokens: 131_348 },
        }),
      );
    });
  });
  let key = '';
  before(async () => {
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    const address = upstream.address();
    assert.ok(address !== null && typeof address === 'object');
    const baseUrl = `http://127.0.0.1:${address.port}`;
    const connection = await post('connections', {
      provider: 'openai',
      name: 'evil',
      base_url: baseUrl,
      api_key: 'upstream-secret',
    });
    await post(`connections/${connection?.id}`, { action: 'discover' });
    const locked = await post('connections', {
      provider: 'openai-compatible',
      name: 'locked',
      base_url: `${baseUrl}/locked`,
      api_key: 'upstream-secret',
    });
    await post(`connections/${locked?.id}`, { action: 'test' });
    const made = await post('keys', { name: canary, owner: canary, team: canary, labels: { env: canary } });
    key = made?.key ?? '';
    await post('aliases', { name: `alias-${canary}`, target: `evil/${canary}` });
    await post('combos', { name: 'named', targets: [`evil/bad-${canary}`, 'evil/gpt-5-mini'] });
    await post('budgets', { scope: 'team', subject: canary, metric: 'requests', period: 'day', limit: 100 });
    await post('users', {
      name: 'mallory',
      role: 'viewer',
      password: 'a long secret of mallory',
      display_name: canary,
    });
    const token = await at.call('POST', '/api/tokens', {
      token: at.admin.token,
      body: {
        name: canary,
        scopes: ['services:read'],
        expires_at: new Date(Date.now() + 86_400_000).toISOString(),
      },
    });
    assert.equal(token.status, 200, token.text);
    await post('acp_agents', { id: 'evil-agent', name: canary, description: canary, command: 'evil-agent' });
    await post('tools', {
      id: 'evil-tool',
      name: canary,
      description: canary,
      binaries: ['<b>'],
      api: 'openai-chat',
      environment: { BASE: '<base_url>', KEY: '<api_key>' },
      file: {
        path: '~/<img src=x onerror=canary=1>.json',
        format: 'json',
        settings: [{ path: [canary], value: '<base_url>' }],
      },
    });
  });
  after(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const asked = (model: string) =>
    at.gateway.ask(
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: 'hi' }] },
      {
        authorization: `Bearer ${key}`,
        'user-agent': canary,
        'x-gateway-tags': 'env=<b>',
        'x-claude-code-session-id': canary,
      },
    );
  const loaded = ({ page }: Visitor) =>
    waitFor('the page', async () => (await page.locator('[aria-busy=true]').count()) === 0);
  const paths = navigation.flatMap(({ items }) => items.map(({ to }) => String(to)));

  it('shows every name that a user or an upstream chooses as text', async (test) => {
    await waitFor('the key to be known', async () => (await asked('evil/gpt-5-mini')).status === 200);
    const failed = await asked(`evil/bad-${canary}`);
    const request = failed.header('x-request-id');
    await at.gateway.entry(request);
    const scripted = await at.call('POST', '/api/tools', {
      ...owner(),
      body: {
        id: 'script',
        name: 'Script',
        binaries: ['script'],
        api: 'openai-chat',
        docs_url: 'javascript:canary=1',
        environment: { BASE: '<base_url>', KEY: '<api_key>' },
      },
    });
    assert.equal(scripted.status, 400, scripted.text);
    // What stands in model ids and commands is no text of one's own.
    const password = 'a long secret of nobody';
    for (const [path, body] of [
      ['connections', { provider: 'openai', name: canary, api_key: 'k' }],
      ['combos', { name: canary, targets: ['evil/gpt-5-mini'] }],
      ['users', { name: canary, role: 'viewer', password }],
    ] as const) {
      const reply = await at.call('POST', `/api/${path}`, { ...owner(), body });
      assert.equal(reply.status, 400, reply.text);
    }
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    const seen: string[] = [];
    const audit = (await at.call('GET', "/api/audit?filter[]=action='users.create'", owner())).json();
    const [{ href }] = audit['resources'] as [{ href: string }];
    const inside = [
      `/requests/${request}`,
      '/requests?group=run',
      '/cli-code/evil-tool',
      '/acp-agents/evil-agent',
      `/audit/${href.split('/').at(-1)}`,
    ];
    for (const path of [...paths, ...inside]) {
      await ann.open(path === '/' ? '' : path);
      await loaded(ann);
      if (path === '/connections') await ann.page.getByRole('row').filter({ hasText: 'locked' }).click();
      if ((await ann.page.content()).includes('&lt;img src=x')) seen.push(path);
      const ran = await ann.page.evaluate<boolean>(
        "typeof canary !== 'undefined' && !(canary instanceof Element) || document.querySelector('img[src=x], #canary') !== null",
      );
      assert.equal(ran, false, path);
    }
    const expected = [
      '/',
      '/requests',
      '/costs',
      '/connections',
      '/models',
      '/combos',
      '/api-manager',
      '/budgets',
    ];
    for (const path of [...expected, '/cli-code', '/acp-agents', '/users', ...inside])
      assert.ok(seen.includes(path), `${path} shows the name as it is`);
    assert.deepEqual(ann.foreign(), []);
    assert.deepEqual(
      ann.errors().filter((text) => /Content Security Policy|is not defined/.test(text)),
      [],
    );
  });

  it('keeps the token in sessionStorage alone, and sends no cookie and no password with its requests', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await ann.context.addCookies([{ name: 'of-another', value: 'program', url: url() }]);
    await enter(ann, at, at.admin, 'admin');
    const sent: { path: string; cookie: string | null; authorization: string | null; token: boolean }[] = [];
    ann.page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (!pathname.startsWith('/api/')) return;
      const headers = request.allHeaders();
      void headers.then((all) =>
        sent.push({
          path: pathname,
          cookie: all['cookie'] ?? null,
          authorization: all['authorization'] ?? null,
          token: all['x-auth-token'] !== undefined,
        }),
      );
    });
    for (const path of ['', '/api-manager', '/cli-code']) {
      await ann.open(path);
      await loaded(ann);
    }
    assert.ok(sent.length > 5, `${sent.length} requests`);
    assert.deepEqual(
      sent.filter(({ authorization, cookie, token }) => cookie !== null || authorization !== null || !token),
      [],
    );
    const stores = await ann.page.evaluate<string>(
      'indexedDB.databases().then(async (all) => JSON.stringify([all, Object.keys(localStorage), (await globalThis.caches?.keys()) ?? [], (await navigator.serviceWorker?.getRegistrations())?.length ?? 0]))',
    );
    assert.doesNotMatch(stores, /gws_|session/);
    assert.match(stores, /^\[\[\],/);
  });

  it('is shown in no frame of another site', async (test) => {
    hostile.show(
      '/frame',
      `<h1>frame</h1><iframe src="${url()}/dashboard" width="800" height="600"></iframe>`,
    );
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await ann.page.goto(`http://127.0.0.1:${hostile.port}/frame`);
    await waitFor('the refusal', () =>
      ann.errors().some((text) => text.includes('frame-ancestors') || text.includes('frame')),
    );
    const frame = ann.page.frames().find((one) => one.parentFrame() !== null);
    assert.equal(await frame?.locator('#root').count(), 0);
  });

  it('works with the keyboard alone: search, commands, theme, filter, help', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('');
    const { keyboard } = ann.page;
    await keyboard.press('Control+k');
    await ann.page.getByRole('combobox', { name: 'Search and commands' }).waitFor();
    await keyboard.type('keys');
    await keyboard.press('Enter');
    await ann.page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await keyboard.press('/');
    await keyboard.type('no such key');
    await ann.page.getByText('No key has this name').waitFor();
    await ann.page.locator('main').focus();
    await keyboard.press('?');
    await ann.page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await keyboard.press('Escape');
    await keyboard.press('Control+k');
    await keyboard.type('dark');
    await keyboard.press('Enter');
    await waitFor('the theme', async () => (await ann.page.locator('html.dark').count()) === 1);
    await ann.page.reload();
    await ann.page.getByRole('heading', { level: 1 }).waitFor();
    assert.equal(await ann.page.locator('html.dark').count(), 1, 'the browser remembers the theme');
    for (const content of ['good morning', 'good night'])
      await at.gateway.ask('/v1/chat/completions', {
        model: 'demo/echo',
        messages: [{ role: 'user', content }],
      });
    await ann.open('/requests');
    await loaded(ann);
    const row = ann.page.locator('tr[tabindex]').first();
    await row.focus();
    await keyboard.press('Enter');
    await ann.page.getByRole('dialog').waitFor();
    const first = ann.page.url();
    await keyboard.press('j');
    await waitFor('the next request', () => ann.page.url() !== first);
    await keyboard.press('k');
    await waitFor('the first request', () => ann.page.url() === first);
    await keyboard.press('Escape');
    await ann.page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.deepEqual(ann.errors(), []);
  });

  it('shows the same totals to browsers nine hours before UTC and eight behind', async (test) => {
    for (const hours of [30, 14, 0]) {
      at.advance(-hours * 3600);
      try {
        const reply = await at.gateway.ask('/v1/chat/completions', {
          model: 'evil/gpt-5-mini',
          messages: [{ role: 'user', content: 'hi' }],
        });
        assert.equal(reply.status, 200, reply.text);
        await at.gateway.entry(reply.header('x-request-id'));
      } finally {
        at.advance(hours * 3600);
      }
    }
    const amounts = async (timezoneId: string) => {
      const ann = await visitor(chromium.running, url(), { timezoneId });
      test.after(() => ann.close());
      await enter(ann, at, at.admin, 'admin');
      const shown: Record<string, string[]> = {};
      for (const path of ['', '/api-manager', '/costs']) {
        await ann.open(path);
        await loaded(ann);
        await waitFor(`amounts at ${path}`, async () => {
          const text = (await ann.page.locator('main').textContent()) ?? '';
          shown[path] = text.match(/\$[\d.,]+/g) ?? [];
          return shown[path].some((amount) => amount !== '$0.00');
        });
      }
      return shown;
    };
    const [tokyo, angeles] = [await amounts('Asia/Tokyo'), await amounts('America/Los_Angeles')];
    assert.deepEqual(tokyo, angeles);
  });
});
