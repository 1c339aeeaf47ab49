import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { browser, withoutChromium } from '../support/clients/chromium.ts';
import { managed } from '../support/management/management.ts';
import { buildPages } from './build.ts';
import { enter, logIn, visitor } from './visitor.ts';

describe('the dashboard in the places where gateways run', { skip: withoutChromium }, () => {
  before(buildPages);
  const at = managed({ config: { allowed_hosts: ['gateway.lan'] } });
  const other = managed();
  const chromium = browser();

  /** A reverse proxy that has each gateway below a path of its own. */
  const gateways = { one: at, two: other } as const;
  const proxy: Server = createServer((incoming, response) => {
    const [, name = '', rest = ''] = /^\/(one|two)(\/.*)$/.exec(incoming.url ?? '') ?? [];
    const gateway = Object.hasOwn(gateways, name) ? gateways[name as keyof typeof gateways] : null;
    if (gateway === null) {
      response.writeHead(404).end();
      return;
    }
    const { headers, method } = incoming;
    const upstream = request({ host: '127.0.0.1', port: gateway.gateway.port, path: rest, method, headers });
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    upstream.on('error', () => response.destroy());
    response.on('close', () => upstream.destroy());
    incoming.pipe(upstream);
  });
  before(async () => {
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
  });
  after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const proxied = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  it('works below a path of a proxy, beside a second gateway that has a login of its own', async (test) => {
    const ann = await visitor(chromium.running, `${proxied()}/one`);
    test.after(() => ann.close());
    await ann.open('');
    await logIn(ann, 'admin', at.admin.password);
    await ann.page.getByText('Live', { exact: true }).waitFor();
    await ann.page.getByRole('link', { name: 'Keys' }).click();
    await ann.page.getByRole('button', { name: 'Create key' }).click();
    await ann.page.getByLabel(/^Name/).last().fill('behind a proxy');
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await ann.page.getByText(`OPENAI_BASE_URL=${proxied()}/one/v1`).waitFor();
    await ann.page.goto(`${proxied()}/one/dashboard/services/data-plane`);
    await ann.page.getByText('Health checks').waitFor();
    assert.deepEqual(ann.errors(), []);
    assert.deepEqual(ann.foreign(), []);
    await ann.page.goto(`${proxied()}/two/dashboard/`);
    await ann.page.getByRole('button', { name: 'Log in' }).waitFor();
    await logIn(ann, 'admin', other.admin.password);
    await ann.page.goto(`${proxied()}/one/dashboard/users`);
    await ann.page.getByRole('row', { name: /^admin/ }).waitFor();
    assert.deepEqual(ann.errors(), []);
  });

  it('works over plain HTTP in the local network, where browsers keep the clipboard back', async (test) => {
    const ann = await visitor(chromium.running, `http://gateway.lan:${at.gateway.port}`);
    test.after(() => ann.close());
    await ann.open('/users');
    assert.equal(await ann.page.evaluate('isSecureContext'), false);
    await logIn(ann, 'admin', at.admin.password);
    await ann.page.getByRole('button', { name: 'Create token' }).click();
    const form = ann.page.getByRole('dialog');
    await form.getByLabel(/^Name/).fill('from the lan');
    await form.getByLabel('services:read').check();
    await form.getByRole('button', { name: 'Create token' }).click();
    const token = ((await ann.page.getByRole('dialog').locator('pre').first().textContent()) ?? '').trim();
    await ann.page.getByText(`curl http://gateway.lan:${at.gateway.port}/api/services`).waitFor();
    await ann.page.evaluate(
      "document.addEventListener('copy', () => { window.copiedText = String(document.activeElement.value); })",
    );
    await ann.page.getByRole('dialog').getByRole('button', { name: 'Copy' }).first().click();
    await ann.page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    assert.equal(await ann.page.evaluate<string>('window.copiedText'), token);
    // Browsers say of this header that it has no use there; elsewhere it has.
    const others = ann.errors().filter((text) => !text.includes('Cross-Origin-Opener-Policy'));
    assert.deepEqual(others, []);
    assert.deepEqual(ann.foreign(), []);
  });

  it('reloads the page once when a part of it is missing after an upgrade', async (test) => {
    const ann = await visitor(chromium.running, `http://127.0.0.1:${at.gateway.port}`);
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    let loads = 0;
    let gone = true;
    await ann.page.route(/\/assets\/users-[\w-]+\.js$/, (route) =>
      gone ? route.fulfill({ status: 404 }) : route.continue(),
    );
    await ann.open('');
    ann.page.on('load', () => {
      loads += 1;
      gone = false;
    });
    await ann.page.getByRole('link', { name: 'Users' }).click();
    await ann.page.getByRole('row', { name: /^admin/ }).waitFor();
    assert.equal(loads, 1);
    ann.errors();
  });

  it('says so when a part stays missing, and does not reload the page in a loop', async (test) => {
    const ann = await visitor(chromium.running, `http://127.0.0.1:${at.gateway.port}`);
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.page.route(/\/assets\/users-[\w-]+\.js$/, (route) => route.fulfill({ status: 404 }));
    await ann.open('');
    let loads = 0;
    ann.page.on('load', () => {
      loads += 1;
    });
    await ann.page.getByRole('link', { name: 'Users' }).click();
    await ann.page.getByRole('alert').waitFor();
    assert.equal(loads, 1);
    ann.errors();
  });
});
