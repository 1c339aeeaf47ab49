import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { tools } from '../../src/tools/catalogue/index.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { firstResult, managed, refused } from '../support/management/management.ts';

interface Status {
  detection: { installed: boolean; runnable: boolean; version?: string };
  config: { status: string; endpoint: string | null; lastConfiguredAt: string | null };
  error?: string;
}

describe('the tools of the machine over the management API', () => {
  const at = managed({
    config: { trusted_proxies: ['127.0.0.1'], allowed_hosts: ['ai.example.com'] },
    ownPrograms: true,
  });
  const home = () => at.gateway.home;
  const settings = (tool: string) => `/api/cli-tools/${tool}-settings`;
  const put = async (path: string, text: string, mode = 0o644) => {
    await mkdir(dirname(join(home(), path)), { recursive: true });
    await writeFile(join(home(), path), text, { mode });
  };
  /** Every file of the home folder but the gateway's own. */
  const files = async () => {
    const names = (await readdir(home(), { recursive: true }))
      .filter((name) => !name.startsWith('data'))
      .sort();
    return Promise.all(
      names.map(async (name) => {
        const path = join(home(), name);
        const { mode } = await stat(path);
        return [name, mode, (await stat(path)).isFile() ? await readFile(path, 'utf8') : null];
      }),
    );
  };
  const admin = (method: string, path: string, body?: object) =>
    at.call(method, path, { token: at.admin.token, ...(body === undefined ? {} : { body }) });

  before(async () => {
    await put('bin/claude', '#!/bin/sh\necho "2.1.329 (Claude Code)"\n', 0o755);
    await put('bin/codex', '#!/bin/sh\nexit 3\n', 0o755);
  });

  it('lists every tool with its location and target, in the specified form', async () => {
    const reply = await admin('GET', '/api/cli-tools/all-statuses');
    assert.equal(reply.status, 200, reply.text);
    const all = reply.json<Record<string, Status>>();
    assert.deepEqual(
      Object.keys(all),
      tools.map(({ id }) => id),
    );
    assert.deepEqual(all['claude'], {
      detection: {
        installed: true,
        runnable: true,
        version: '2.1.329',
        command: 'claude',
        commandPath: join(home(), 'bin/claude'),
      },
      config: { status: 'not_configured', endpoint: null, lastConfiguredAt: null },
    });
    assert.equal(all['codex']?.config.status, 'unknown');
  });

  it('remembers a program until it changes, and forgets on demand', async () => {
    const runs = async () => (await readFile(join(home(), 'runs'), 'utf8')).length;
    await put('bin/qwen', `#!/bin/sh\nprintf x >> '${join(home(), 'runs')}'\necho 0.24.4\n`, 0o755);
    for (let time = 0; time < 3; time += 1) await admin('GET', '/api/cli-tools/all-statuses');
    assert.equal(await runs(), 1);
    await admin('GET', '/api/cli-tools/all-statuses?refresh=true');
    assert.equal(await runs(), 2);
    refused(await admin('GET', '/api/cli-tools/all-statuses?refresh=maybe'), 400, 'bad_request');
  });

  it('writes, shows and takes back the configuration of a tool, and nothing else', async () => {
    const theirs = '{\n  // mine\n  "theme": "dark"\n}\n';
    await put('.claude/settings.json', theirs.replace('  // mine\n', ''));
    const before = await files();
    const planned = await admin('POST', settings('claude'), { api_key: at.gateway.key, dry_run: true });
    assert.equal(planned.status, 200, planned.text);
    assert.equal(planned.json()['changed'], true);
    assert.match(String(planned.json()['diff']), /^--- /);
    assert.deepEqual(await files(), before, 'a dry run writes nothing');

    const reply = await admin('POST', settings('claude'), { api_key: at.gateway.key, model: 'auto' });
    assert.equal(reply.status, 200, reply.text);
    const { backup_id, changed, ok, path, tool } = reply.json();
    assert.deepEqual(
      [ok, tool, changed, path],
      [true, 'claude', true, join(home(), '.claude/settings.json')],
    );
    assert.match(String(backup_id), /^tbk_/);
    const written = JSON.parse(await readFile(String(path), 'utf8')) as { env: Record<string, string> };
    assert.equal(written.env['ANTHROPIC_AUTH_TOKEN'], at.gateway.key);
    assert.equal(written.env['ANTHROPIC_BASE_URL'], at.gateway.url);
    assert.equal((await stat(String(path))).mode & 0o777, 0o600);

    const shown = await admin('GET', settings('claude'));
    assert.equal(shown.text.includes(at.gateway.key), false, 'the key is shown nowhere');
    const { config, endpoint, model, status } = shown.json();
    assert.deepEqual([status, endpoint, model], ['configured', at.gateway.url, 'auto']);
    assert.match(String((config as Record<string, string>)['env.ANTHROPIC_AUTH_TOKEN']), /^sk-….{4}$/);

    // The key that is there serves again, whether it is named or not.
    for (const body of [{ model: 'auto' }, { model: 'auto', key_id: 'test' }]) {
      const again = await admin('POST', settings('claude'), body);
      assert.deepEqual([again.status, again.json()['changed']], [200, false], again.text);
    }
    const list = (await admin('GET', '/api/cli-tools/all-statuses')).json<Record<string, Status>>();
    assert.equal(list['claude']?.config.status, 'configured');
    assert.ok(list['claude']?.config.lastConfiguredAt);

    assert.equal((await admin('DELETE', `${settings('claude')}?dry_run=true`)).json()['changed'], true);
    assert.equal((await admin('DELETE', settings('claude'))).json()['changed'], true);
    assert.deepEqual(await files(), before, 'byte for byte, with its permissions');
    assert.equal((await admin('DELETE', settings('claude'))).json()['changed'], false);
    const back = await admin('DELETE', `${settings('claude')}?backup_id=${backup_id}`);
    assert.equal(back.status, 200, back.text);
    refused(await admin('DELETE', `${settings('claude')}?backup_id=tbk_none`), 404, 'not_found');
  });

  it('says what has drifted, and how to mend it', async () => {
    await put('.qwen/settings.json', '{}');
    assert.equal((await admin('POST', settings('qwen'), { model: 'auto' })).status, 200);
    await put('.qwen/settings.json', '{}');
    const { drifted, mend } = (await admin('GET', settings('qwen'))).json();
    assert.equal((drifted as string[]).length, 1);
    assert.equal(mend, 'gateway tools configure qwen');
    const list = (await admin('GET', '/api/cli-tools/all-statuses')).json<Record<string, Status>>();
    assert.match(list['qwen']?.error ?? '', /changed since: run `gateway tools configure qwen`/);
    await waitFor('the line in the log', () =>
      /has changed since it was set up.*gateway tools configure qwen|gateway tools configure qwen.*has changed since it was set up/.test(
        at.gateway.output().stderr,
      ),
    );
    await admin('DELETE', settings('qwen'));
  });

  it('points a tool at no other gateway', async () => {
    const post = (base_url: string) =>
      admin('POST', settings('claude'), { api_key: at.gateway.key, base_url, dry_run: true });
    for (const foreign of [
      'https://evil.example',
      'http://127.0.0.1:1',
      'http://[::1]:1/v1',
      'http://0.0.0.0:1',
    ])
      refused(await post(foreign), 400, 'bad_request');
    for (const bad of ['file:///etc/passwd', 'x', 'http://me:secret@ai.example.com']) {
      const reply = await post(bad);
      refused(reply, 400, 'bad_request');
      assert.equal(reply.json()['param'], 'base_url');
    }
    for (const own of [
      `http://localhost:${at.gateway.port}/v1`,
      'https://ai.example.com',
      'https://ai.example.com/v1/',
    ])
      assert.equal((await post(own)).status, 200, own);
  });

  it('accepts only its own whole keys, and reveals no other text', async () => {
    for (const api_key of [`sk-${'0'.repeat(32)}`, 'sk-abcd…wxyz', 'sk-f0e62****']) {
      const reply = await admin('POST', settings('claude'), { api_key });
      refused(reply, 400, 'bad_request');
      assert.equal(reply.json()['param'], 'api_key');
      assert.equal(reply.text.includes(api_key), false);
    }
    for (const body of [
      { key_id: 'nobody' },
      { key_id: 'test' },
      { key_id: 'test', api_key: at.gateway.key },
      {},
      { api_key: at.gateway.key, model: 'a\nb' },
      { api_key: at.gateway.key, colour: 'red' },
    ])
      refused(await admin('POST', settings('claude'), body), 400, 'bad_request');
    refused(await admin('POST', settings('codex'), {}), 400, 'bad_request');
    assert.equal(
      (await admin('POST', settings('codex'), { model: 'auto', key_id: 'test', dry_run: true })).status,
      200,
    );
  });

  it('reveals only the position of an error in a file that it cannot read', async () => {
    const secret = 'sk-nobodys-business-0123456789';
    await put('.continue/config.yaml', `a: *${secret}\nb: "${secret}\n  - ]${secret}: }\n`);
    await put('.codex/config.toml', `a = ${secret}\nb = "x" ${secret}\n`);
    await put('.cline/data/settings/providers.json', `{"a": ${secret}}`);
    for (const tool of ['continue', 'codex', 'cline']) {
      const body = { model: 'auto', api_key: at.gateway.key };
      const replies = [await admin('GET', settings(tool)), await admin('POST', settings(tool), body)];
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 400],
      );
      for (const { text } of replies) {
        assert.match(text, /line \d/);
        assert.equal(text.includes(secret), false, text);
      }
    }
    await put('.continue/config.yaml', 'a: 1\n');
    await put('.codex/config.toml', '');
    await put('.cline/data/settings/providers.json', '{}');
  });

  it('reports an invalid folder without a stack trace', async () => {
    await put('.config/kilo', 'a file where a folder should be');
    const reply = await admin('POST', settings('kilo'), { model: 'auto' });
    refused(reply, 409, 'conflict');
    assert.match(reply.text, /Kilo Code cannot be read or written \(E\w+\)/);
    assert.match((await admin('GET', settings('kilo'))).text, /cannot be read \(E\w+\)/);
  });

  it('lets operators read and admins write', async () => {
    const [viewer, operator] = [await at.person('vera', 'viewer'), await at.person('otto', 'operator')];
    for (const path of ['/api/cli-tools/all-statuses', settings('claude'), '/api/tools']) {
      refused(await at.call('GET', path, { token: viewer.token }), 403, 'forbidden');
      assert.equal((await at.call('GET', path, { token: operator.token })).status, 200, path);
    }
    for (const [method, body] of [
      ['POST', { api_key: at.gateway.key }],
      ['DELETE', undefined],
    ] as const) {
      const call = { token: operator.token, ...(body === undefined ? {} : { body }) };
      refused(await at.call(method, settings('claude'), call), 403, 'forbidden');
    }
    await waitFor('the records of what was refused', async () => {
      const log = await admin('GET', '/api/audit?expand=resources&limit=20');
      const rows = log.json()['resources'] as { action: string; outcome: string }[];
      return ['read', 'configure', 'restore'].every((action) =>
        rows.some((row) => row.action === `cli-tools.${action}` && row.outcome === 'denied'),
      );
    });
  });

  it('records every change, without the key', async () => {
    await admin('POST', settings('claude'), { api_key: at.gateway.key });
    await admin('DELETE', settings('claude'));
    const log = await admin('GET', '/api/audit?expand=resources&limit=20');
    assert.equal(log.text.includes(at.gateway.key), false);
    const rows = log.json()['resources'] as { action: string; outcome: string; target: string }[];
    for (const action of ['cli-tools.configure', 'cli-tools.restore'])
      assert.ok(
        rows.some((row) => row.action === action && row.outcome === 'success' && row.target === 'claude'),
      );
  });

  it('runs no program for a caller on another machine', async () => {
    const call = { token: at.admin.token, headers: { 'x-forwarded-for': '203.0.113.7' } };
    refused(await at.call('GET', '/api/cli-tools/all-statuses', call), 403, 'forbidden');
    assert.equal((await at.call('GET', '/api/tools', call)).status, 200);
    assert.equal((await at.call('GET', settings('claude'), call)).status, 200);
  });

  it('is narrowed by the selectors of a token', async () => {
    const made = await admin('POST', '/api/tokens', {
      name: 'codex only',
      scopes: ['tools:read', 'tools:update'],
      selectors: ['tools:id=codex'],
    });
    assert.equal(made.status, 200, made.text);
    const token = String(firstResult(made)['token']);
    const statuses = await at.call('GET', '/api/cli-tools/all-statuses', { token });
    assert.deepEqual(Object.keys(statuses.json()), ['codex']);
    refused(await at.call('GET', settings('claude'), { token }), 404, 'not_found');
    assert.equal((await at.call('GET', settings('codex'), { token })).status, 200);
  });

  it('lists the catalogue with where each tool points', async () => {
    const reply = await admin('GET', '/api/tools?expand=resources');
    const rows = reply.json()['resources'] as Record<string, unknown>[];
    assert.equal(rows.length, tools.length);
    const claude = rows.find(({ id }) => id === 'claude');
    assert.deepEqual(
      [claude?.['installed'], claude?.['settings_href'], claude?.['configType']],
      [true, settings('claude'), 'env'],
    );
    assert.equal((await admin('GET', '/api/tools/codex')).json()['name'], 'OpenAI Codex CLI');
  });

  it('refuses what is not there in the order of the collections', async () => {
    refused(await admin('GET', settings('nothing')), 404, 'not_found');
    refused(await admin('GET', settings('copilot')), 404, 'not_found');
    refused(await admin('GET', '/api/cli-tools'), 404, 'not_found');
    refused(await admin('GET', '/api/cli-tools/claude-settings/x'), 404, 'not_found');
    refused(await admin('PUT', settings('claude'), {}), 405, 'method_not_allowed');
    refused(await admin('GET', `${settings('claude')}?x=1`), 400, 'bad_request');
    const options = await at.call('OPTIONS', settings('claude'), {});
    assert.deepEqual([options.status, options.header('allow')], [204, 'GET, POST, DELETE, HEAD, OPTIONS']);
  });
});
