import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { browser, withoutChromium } from '../support/clients/chromium.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { managed } from '../support/management/management.ts';
import { oidcClient, startOidc } from '../support/servers/oidc.ts';
import { startResourceServer } from '../support/servers/resource-server.ts';
import { json } from '../support/upstream/steps.ts';
import { startUpstream } from '../support/upstream/upstream.ts';
import { buildPages } from './build.ts';
import { enter, type Visitor, visitor } from './visitor.ts';

const isClone = existsSync(fileURLToPath(new URL('../../.git', import.meta.url)));
const OLLAMA_PORT = 11_434;

/** A program `git` that knows of a newer commit. */
const git = `#!/bin/sh
case "$1" in
  ls-remote) echo "2222222222222222222222222222222222222222 HEAD" ;;
  *) echo 1111111111111111111111111111111111111111 ;;
esac
`;

describe('the pages that connect to other programs', { skip: withoutChromium }, () => {
  before(buildPages);
  const programs = mkdtempSync(join(tmpdir(), 'gateway-programs-'));
  writeFileSync(join(programs, 'git'), git);
  chmodSync(join(programs, 'git'), 0o755);
  after(() => rmSync(programs, { recursive: true, force: true }));
  const at = managed({ env: { PATH: `${programs}${delimiter}${process.env['PATH'] ?? ''}` } });
  const chromium = browser();
  const admin = async (test: TestContext, path: string): Promise<Visitor> => {
    const ann = await visitor(chromium.running, `http://127.0.0.1:${at.gateway.port}`);
    test.after(() => ann.close());
    await enter(ann, at, at.admin, 'admin');
    await ann.open(path);
    return ann;
  };
  const ask = (model: string) =>
    at.gateway.ask('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] });

  it('log in at a provider, in the browser and with a code, and say how it went', async (test) => {
    const oidc = await startOidc();
    test.after(() => oidc.close());
    const upstream = await startResourceServer((token) => oidc.accepts(token));
    test.after(() => upstream.close());
    const ann = await admin(test, '/connections');
    const { page } = ann;
    await page.getByRole('button', { name: 'Connect a provider' }).click();
    await page.getByRole('textbox', { name: /^Provider/ }).fill('openai-comp');
    await page
      .getByRole('button', { name: /compatible/i })
      .first()
      .click();
    await page.getByLabel('Sign in with').selectOption('login');
    await page.getByLabel(/^Name of the connection/).fill('ai');
    await page.getByLabel(/^Address/).fill(upstream.url);
    await page.getByLabel(/^Issuer/).fill(oidc.issuer);
    await page.getByLabel(/^Client id/).fill(oidcClient.id);
    await page.getByLabel(/^Client secret/).fill(oidcClient.secret);
    await page.getByLabel(/^Scopes/).fill('openid offline_access');
    await page.getByRole('button', { name: 'Connect and log in' }).click();
    const dialog = page.getByRole('dialog', { name: 'Log in for "ai"' });
    await dialog.getByRole('button', { name: 'In this browser' }).click();
    const link = dialog.getByRole('link', { name: 'Open the login page' });
    await dialog.getByText('Waiting for the login').waitFor();
    assert.deepEqual(await ann.findings(), []);
    const back = await oidc.visit((await link.getAttribute('href')) ?? '');
    assert.equal(back.status, 200, back.text);
    await dialog.getByText('Logged in', { exact: true }).waitFor();
    assert.equal((await ask('ai/m-1')).status, 200, 'requests go with what the provider gave');

    const logInWithCode = async (refuse: boolean) => {
      await dialog.getByRole('button', { name: 'Close' }).last().click();
      await page.getByRole('button', { name: 'Actions for ai' }).click();
      await page.getByRole('menuitem', { name: 'Log in' }).click();
      await dialog.getByRole('button', { name: 'With a code, on another device' }).click();
      const code = (await dialog.locator('pre').first().textContent()) ?? '';
      await oidc.enterCode((await link.getAttribute('href')) ?? '', code.trim(), refuse);
    };
    await logInWithCode(false);
    await dialog.getByText('Logged in', { exact: true }).waitFor();
    await logInWithCode(true);
    await dialog.getByText('Not logged in').waitFor();
    await dialog.getByText(/refused at the provider/).waitFor();
    const html = await page.content();
    for (const secret of [oidcClient.secret, ...upstream.presented]) assert.ok(!html.includes(secret));
    assert.deepEqual(ann.errors(), []);
  });

  it('offer a model server that runs on the machine, and connect it', async (test) => {
    const ollama = await startUpstream();
    test.after(() => ollama.close());
    ollama.respond(({ path }) =>
      path === '/v1/models'
        ? [json(200, { object: 'list', data: [{ id: 'small-1', object: 'model' }] })]
        : [json(404, {})],
    );
    at.ports({ [OLLAMA_PORT]: Number(new URL(ollama.url).port) });
    test.after(() => at.ports({}));
    const ann = await admin(test, '');
    // A gateway that is busy may not have its answer in time, and looks again when it is asked again.
    const offer = ann.page
      .getByRole('listitem')
      .filter({ hasText: /^Ollama, running at http:\/\/127\.0\.0\.1/ });
    await waitFor('the offer', async () => {
      const offers = ann.page.waitForResponse((response) => response.url().includes('/api/discoveries'));
      await ann.open('/setup');
      return (await (await offers).text()).includes('ollama');
    });
    await offer.getByRole('button', { name: 'Connect' }).click();
    await ann.page.getByText(/answered in .* listed 1 models?/).waitFor();
    await offer.waitFor({ state: 'detached' });
    await ann.page.getByText(/^Connected: .*ollama/i).waitFor();
    assert.deepEqual(ann.errors(), []);
  });

  it('show a newer version, restart the gateway, and stop it', async (test) => {
    const ann = await admin(test, '/settings');
    const { page } = ann;
    if (isClone) {
      await page.getByRole('button', { name: 'Check for updates' }).click();
      await page.getByText('There is a newer version (222222222222)').waitFor();
      await page.getByText(/pull --ff-only/).waitFor();
    }
    const leave = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
    };
    assert.deepEqual(ann.errors(), []);
    await leave('Restart');
    await page.getByText('The gateway runs again').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const { pid } = at.gateway;
    await leave('Stop');
    await page.getByText(/The gateway ends/).waitFor();
    await waitFor('the process to end', () => !existsSync(join(at.gateway.dataDir, 'run.json')));
    await at.gateway.restart();
    assert.notEqual(at.gateway.pid, pid);
  });
});
