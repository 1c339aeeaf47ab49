import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browser, withoutChromium } from '../support/clients/chromium.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { managed } from '../support/management/management.ts';
import { buildPages } from './build.ts';
import { enter, visitor } from './visitor.ts';

const yaml = (hook: string, filter: string) => `components:
  channels: [{unique_id: main, url: "sqlite:", mq_topic_name: main}]
  sources: [{ref: {unique_id: inbox, kind: http}}]
  triggers: [{ref: {unique_id: hook, kind: http, name: "${hook}"}}]
strategy:
  trigger_strategies:
    - event_trigger_id: hook
      dead_letter_strategy: {enable: true}
router_rules:
  routers:
    - {source_id: inbox, trigger_id: hook, channel_id: main, filter: {cesql: "${filter}"}}
`;

describe('the page of events', { skip: withoutChromium }, () => {
  before(buildPages);
  const at = managed();
  const chromium = browser();
  let status = 204;
  const received: string[] = [];
  const server = createServer((incoming, response) => {
    received.push(String(incoming.headers['ce-type']));
    incoming.resume();
    response.writeHead(status).end();
  });
  const url = () => `http://127.0.0.1:${at.gateway.port}`;
  const ask = async (path: string) =>
    (await at.call('GET', `/api/events${path}`, { token: at.ownerKey() })).json();
  const write = async (filter: string) => {
    const { port } = server.address() as AddressInfo;
    const before = (await ask('/status'))['config'] as { version: number };
    writeFileSync(join(at.gateway.dataDir, 'events.yaml'), yaml(`http://127.0.0.1:${port}`, filter));
    await waitFor('the configuration', async () => {
      const { version, via } = (await ask('/status'))['config'] as { version: number; via: string };
      return via === 'file' && version > before.version;
    });
  };
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await write("type LIKE 'com.example.%'");
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  it('sends a test event, shows it live, and replays it from the dead letters', async (test) => {
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    const { page } = ann;
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/events?view=tail');
    await page.getByText('Listening').waitFor();
    const box = page.getByLabel(/CESQL/);
    await box.fill("type LIKE 'com.example.%' ANDD subject");
    await page.getByText(/^Column 27: .*Did you mean AND/).waitFor();
    assert.equal(await page.locator('mark').textContent(), 'ANDD');
    await box.fill("type LIKE 'com.example.%'");
    await waitFor('the address', () => /cesql=/.test(page.url()));
    await page.getByText('Listening').waitFor();
    status = 500;
    await page.getByRole('button', { name: 'Send a test event' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel(/^Type/).fill('com.example.order');
    await form.getByLabel(/^Data/).fill('{"name": "<img src=x onerror=alert(1)>"}');
    await form.getByRole('button', { name: 'Send' }).click();
    await page.locator('summary', { hasText: 'com.example.order' }).click();
    await page.getByText('"<img src=x onerror=alert(1)>"').waitFor();
    assert.equal(await page.locator('main img').count(), 0);
    await page.getByRole('button', { name: 'Dead letters' }).click();
    const row = page.getByRole('row', { name: /com\.example\.order/ });
    await row.waitFor();
    await row.click();
    const sheet = page.getByRole('dialog');
    await sheet.getByText('onerror=alert(1)').waitFor();
    await sheet.getByText('Attempt 1').waitFor();
    status = 204;
    received.length = 0;
    await sheet.getByRole('button', { name: 'Replay' }).click();
    await waitFor('the event to be handled again', () => received.includes('com.example.order'));
    await page.getByText('No dead letters').waitFor();
    assert.deepEqual(ann.errors(), []);
  });

  it('draws where events go, and says the same in a table', async (test) => {
    const vic = await visitor(chromium.running, url());
    test.after(() => vic.close());
    await enter(vic, at, await at.person('olaf', 'operator'), 'operator');
    await vic.open('/events');
    const map = vic.page.getByRole('region', { name: /^Map of sources/ });
    for (const text of ['inbox', 'main', 'hook', "type LIKE 'com.example.%'"])
      await map.getByText(text, { exact: true }).waitFor();
    await map
      .getByText(/\/s · none waiting/)
      .first()
      .waitFor();
    assert.deepEqual(await vic.findings(), []);
    await vic.page.getByRole('button', { name: 'Table' }).click();
    await vic.page.getByRole('row', { name: /^hook Trigger \(http\)/ }).waitFor();
    await vic.page.getByRole('button', { name: 'Configuration' }).click();
    await vic.page.getByText('In force', { exact: true }).waitFor();
    assert.deepEqual(vic.errors(), []);
  });

  it('rolls back to an earlier configuration, and shows what changes', async (test) => {
    const first = ((await ask('/status'))['config'] as { version: number }).version;
    await write("type LIKE 'org.example.%'");
    const ann = await visitor(chromium.running, url());
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open('/events?view=versions');
    const line = ann.page.getByRole('listitem').filter({ hasText: new RegExp(`Version ${first}(?!\\d)`) });
    await line.getByRole('button', { name: 'Restore' }).click();
    const dialog = ann.page.getByRole('dialog');
    await dialog.getByText(/^\+.*com\.example/).waitFor();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await ann.page.getByText(/^Restored as version/).waitFor();
    const { routerRules } = (await ask('/config')) as {
      routerRules: { routers: { filter: { cesql: string } }[] };
    };
    assert.match(routerRules.routers[0]?.filter.cesql ?? '', /com\.example/);
    assert.deepEqual(ann.errors(), []);
  });

  it('shows a viewer the map without what events hold', async (test) => {
    const vic = await visitor(chromium.running, url());
    test.after(() => vic.close());
    await enter(vic, at, await at.person('vic', 'viewer'), 'viewer');
    await vic.open('/events?view=letters');
    await vic.page.getByText('inbox', { exact: true }).waitFor();
    assert.equal(await vic.page.getByRole('button', { name: 'Dead letters' }).count(), 0);
    assert.deepEqual(vic.errors(), []);
  });
});
