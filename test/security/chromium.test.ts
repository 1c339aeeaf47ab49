import assert from 'node:assert/strict';
import { afterEach, before, beforeEach, describe, it } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { browser, closed, site, withoutChromium } from '../support/clients/chromium.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { PATIENCE_MS } from '../support/machine/patience.ts';
import { managed, passwordOf } from '../support/management/management.ts';

/** A form whose body reads as JSON: `{"name":"planted="}`. */
const plantingForm = (action: string, type = 'text/plain') => `
  <form method="post" enctype="${type}" action="${action}">
    <input name='{"name":"planted' value='"}'>
  </form>
  <script>document.forms[0].submit()</script>`;

describe('in a real browser whose user has logged in, pages of other origins', {
  skip: withoutChromium,
}, () => {
  const at = managed({ config: { allowed_hosts: ['gateway.lan'] } });
  const { running } = { running: browser() };
  const attacker = site();
  /** Takes what the gateway refuses, to show that the browser would send it. */
  const careless = site('Application');
  let context: BrowserContext;
  let page: Page;

  const gateway = (host = '127.0.0.1') => `http://${host}:${at.gateway.port}`;
  const attackers = (path: string, host = 'evil.test') => `http://${host}:${attacker.port}${path}`;
  const counts = async () => {
    const token = at.ownerKey();
    const count = async (path: string) => (await at.call('GET', path, { token })).json()['count'];
    return { keys: await count('/api/keys'), tokens: await count('/api/tokens') };
  };
  const refusals = async () => {
    const path = "/api/audit?filter[]=action='request.refused'";
    return Number((await at.call('GET', path, { token: at.ownerKey() })).json()['subquery_count']);
  };
  /** Opens the page of an attacker and waits until what it sends from there has been answered. */
  const attacked = async (url: string, answeredBy: string) => {
    const answer = page.waitForResponse((response) => response.url().startsWith(answeredBy));
    // The page leaves at once for where its form leads.
    await page.goto(url, { waitUntil: 'commit' }).catch(() => {});
    return answer;
  };

  before(async () => {
    context = await running.running.newContext({
      httpCredentials: { username: 'admin', password: passwordOf('admin') },
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const first = await context.newPage();
    for (const url of [`${gateway()}/api/docs`, `${gateway('gateway.lan')}/api/docs`]) {
      const answer = await first.goto(url);
      assert.equal(answer?.status(), 200, 'the login is remembered from here on');
    }
    for (const host of ['127.0.0.1', 'gateway.lan']) await first.goto(`http://${host}:${careless.port}/`);
    await closed(first);
  });

  beforeEach(async () => {
    page = await context.newPage();
  });
  afterEach(() => closed(page));

  it('SC-21 could send the login with a form, if a server accepted it', async () => {
    attacker.show('/control', plantingForm(`http://127.0.0.1:${careless.port}/planted`));
    await attacked(attackers('/control'), `http://127.0.0.1:${careless.port}/planted`);
    const sent = careless.asked.find(({ method, path }) => method === 'POST' && path === '/planted');
    assert.match(sent?.headers.authorization ?? '', /^Basic /, 'the browser attached it');
    assert.equal(sent?.body.trim(), '{"name":"planted="}');
    assert.equal(sent?.headers['sec-fetch-site'], 'cross-site');
  });

  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    it(`SC-21 plant nothing by a form (${type})`, async () => {
      const [before, noted] = [await counts(), await refusals()];
      attacker.show('/form', plantingForm(`${gateway()}/api/keys`, type));
      const answer = await attacked(attackers('/form'), `${gateway()}/api/keys`);
      assert.equal(answer.status(), 403);
      assert.deepEqual(await counts(), before);
      // The browser may have let go of the body by now; the audit log says what was refused.
      await waitFor('the audit log', async () => (await refusals()) > noted);
    });

  it('SC-22 nor from another port of the same machine', async () => {
    const before = await counts();
    attacker.show('/neighbour', plantingForm(`${gateway()}/api/keys`));
    for (const host of ['127.0.0.1', 'localhost']) {
      const answer = await attacked(attackers('/neighbour', host), `${gateway()}/api/keys`);
      assert.equal(answer.status(), 403, host);
      await closed(page);
      page = await context.newPage();
    }
    assert.deepEqual(await counts(), before);
  });

  it('SC-22 nor to a name in the local network, where browsers send no Sec-Fetch', async () => {
    const before = await counts();
    attacker.show('/lan-control', plantingForm(`http://gateway.lan:${careless.port}/lan`));
    await attacked(attackers('/lan-control'), `http://gateway.lan:${careless.port}/lan`);
    const sent = careless.asked.find(({ method, path }) => method === 'POST' && path === '/lan');
    assert.match(sent?.headers.authorization ?? '', /^Basic /);
    assert.equal(sent?.headers['sec-fetch-site'], undefined, 'Origin alone tells');
    attacker.show('/lan', plantingForm(`${gateway('gateway.lan')}/api/keys`));
    const answer = await attacked(attackers('/lan'), `${gateway('gateway.lan')}/api/keys`);
    assert.equal(answer.status(), 403);
    assert.deepEqual(await counts(), before);
  });

  it('SC-23 get no token by any means that pages have', async () => {
    const before = await counts();
    const url = `${gateway()}/api/auth`;
    attacker.show(
      '/mint',
      `<img src="${url}?a"><script src="${url}?b"></script><iframe src="${url}?c"></iframe>
       <link rel="stylesheet" href="${url}?d"><video src="${url}?e"></video>
       <script>
         const by = (init) => fetch('${url}?f', init).then((r) => r.text(), String);
         window.read = Promise.all([
           by({ mode: 'no-cors', credentials: 'include' }), by({ credentials: 'include' }),
           by({ credentials: 'include', headers: { 'x-auth-token': 'x' } }),
         ]);
       </script>`,
    );
    await page.goto(attackers('/mint'));
    const read = await page.evaluate('window.read');
    for (const text of read as string[]) assert.doesNotMatch(text, /auth_token/);
    attacker.show('/leave', `<script>location = '${url}?g'</script>`);
    const answer = await attacked(attackers('/leave'), `${url}?g`);
    assert.equal(answer.status(), 403, 'nor by going there');
    assert.deepEqual(await counts(), before);
  });

  it('SC-24 do not reach it by a name that is not its own', async () => {
    for (const host of ['other.test', 'localhost.lan', '127.0.0.1.test']) {
      const answer = await page.goto(`${gateway(host)}/api/docs`);
      assert.equal(answer?.status(), 403, host);
    }
    for (const host of ['localhost', 'gateway.lan']) {
      const answer = await page.goto(`${gateway(host)}/api/docs`);
      assert.equal(answer?.status(), 200, host);
    }
  });

  it('SC-25 do not reach it under a name of theirs that leads here now (DNS rebinding)', async () => {
    const before = await counts();
    const own = gateway('rebind.test');
    // What came from the attacker's address before the name was given another one.
    await page.route(`${own}/page`, (route) =>
      route.fulfill({ contentType: 'text/html', body: '<p>mine</p>' }),
    );
    await page.goto(`${own}/page`);
    const replies = (await page.evaluate(`Promise.all([
      ['GET', '/api/keys'], ['GET', '/api/auth'], ['GET', '/api/docs'], ['GET', '/api/ping'], ['GET', '/api/live'],
      ['POST', '/api/keys', '{"name":"planted"}'], ['DELETE', '/api/auth'], ['OPTIONS', '/api/keys'],
    ].map(async ([method, path, body]) => {
      const response = await fetch(path, {
        method, body, headers: { 'x-auth-token': ${JSON.stringify(at.admin.token)}, 'content-type': 'application/json' },
      });
      return { path, status: response.status, text: await response.text() };
    }))`)) as { path: string; status: number; text: string }[];
    assert.equal(replies.length, 8);
    for (const { path, status, text } of replies) {
      assert.equal(status, 403, path);
      assert.doesNotMatch(text, /sk-|auth_token|"resources"|pong/, path);
    }
    assert.deepEqual(await counts(), before);
  });

  it('SC-26 read nothing of it', async () => {
    attacker.show('/read', '<p>reading</p>');
    await page.goto(attackers('/read'));
    const tried = (await page.evaluate(`Promise.all([
      {}, { credentials: 'include' }, { headers: { 'x-auth-token': ${JSON.stringify(at.admin.token)} } },
    ].flatMap((init) => ['${gateway()}/api/keys', '${gateway()}/api/ping', '${gateway()}/api/openapi.json'].map((url) =>
      fetch(url, init).then((response) => response.text(), (error) => 'failed: ' + error.message)))
    )`)) as string[];
    assert.equal(tried.length, 9);
    for (const text of tried) assert.match(text, /^failed: /);
  });

  it('SC-27 open no WebSocket', async () => {
    await page.goto(attackers('/read'));
    const outcome = await page.evaluate(`new Promise((done) => {
      const socket = new WebSocket('ws://127.0.0.1:${at.gateway.port}/api/live');
      socket.onopen = () => done('open');
      socket.onerror = () => done('refused');
    })`);
    assert.equal(outcome, 'refused');
  });

  it('SC-55 and SC-56 put nothing of it into a frame, and its own page needs no script', async () => {
    attacker.show('/frame', `<iframe src="${gateway()}/api/docs"></iframe>`);
    const answer = page.waitForResponse((response) => response.url().endsWith('/api/docs'));
    await page.goto(attackers('/frame'));
    await answer;
    await page.waitForLoadState('load');
    const [, frame] = page.frames();
    assert.doesNotMatch(
      (await frame?.content().catch(() => '')) ?? '',
      /Modelgate/,
      'the browser shows none of it',
    );
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.goto(`${gateway()}/api/docs`);
    assert.match(await page.title(), /Modelgate/);
    assert.deepEqual(complaints, []);
    await page.goto(`${gateway()}/api/keys`);
    assert.equal(await page.evaluate('document.contentType'), 'application/json');
  });

  it('SC-66 nothing of the API is kept: no cookie, no storage, no cache', async () => {
    await page.goto(`${gateway()}/api/docs`);
    assert.deepEqual(await context.cookies(), []);
    const kept = await page.evaluate(`(async () => ({
      local: localStorage.length, session: sessionStorage.length, caches: (await caches.keys()).length,
      databases: (await indexedDB.databases()).length,
    }))()`);
    assert.deepEqual(kept, { local: 0, session: 0, caches: 0, databases: 0 });
  });
});
