import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { managed, refused } from '../support/management/management.ts';

const fake = resolve(import.meta.dirname, '../support/agents/fake-agent.ts');

interface Agent {
  id: string;
  installed: boolean;
  enabled: boolean;
  usable: boolean;
  problem: string | null;
  version: string | null;
  permissions: string[];
}

/** ACP agents by the API and the command line, with a scripted one that speaks the protocol. */
describe('ACP agents of a running gateway', () => {
  const at = managed({ ownPrograms: true, env: { ACP_COMMANDS: 'scripted-agent, other-agent' } });
  const admin = (method: string, path: string, body?: object) =>
    at.call(method, path, { token: at.admin.token, ...(body === undefined ? {} : { body }) });
  const listed = async (): Promise<Agent[]> =>
    (await admin('GET', '/api/acp/agents')).json()['agents'] as Agent[];
  const agent = async (id: string) => (await listed()).find((one) => one.id === id);
  const ask = (model: string, key?: string) =>
    at.gateway.ask(
      '/v1/chat/completions',
      { model, messages: [{ role: 'user', content: 'hello there' }] },
      key === undefined ? {} : { authorization: `Bearer ${key}` },
    );
  const models = async () =>
    (
      (
        await at.gateway.send({
          method: 'GET',
          path: '/v1/models',
          headers: { authorization: `Bearer ${at.gateway.key}` },
        })
      ).json()['data'] as { id: string }[]
    ).map(({ id }) => id);

  before(async () => {
    const bin = join(at.gateway.home, 'bin');
    await mkdir(bin, { recursive: true });
    const script = `#!/bin/sh\n[ "$1" = --version ] && { echo 4.5.6; exit; }\nexec ${process.execPath} ${fake}\n`;
    await writeFile(join(bin, 'scripted-agent'), script, { mode: 0o755 });
    await writeFile(join(bin, 'opencode'), script, { mode: 0o755 });
  });

  it('lists what there is, with a summary, and runs nothing for that', async () => {
    const reply = await admin('GET', '/api/acp/agents');
    const { agents, summary, unusable } = reply.json() as {
      agents: Agent[];
      summary: Record<string, number>;
      unusable: { id: string }[];
    };
    assert.equal(summary['total'], agents.length);
    assert.equal(summary['installed'], 1);
    assert.equal(summary['enabled'], 0);
    assert.ok(unusable.some(({ id }) => id === 'aider'));
    assert.equal((await agent('opencode'))?.version, null);
    const refreshed = await admin('POST', '/api/acp/agents', { action: 'refresh' });
    assert.equal(refreshed.json()['refreshed'], true);
    assert.equal((await agent('opencode'))?.version, '4.5.6');
  });

  it('refuses model requests until the agent is enabled, and names the command for that', async () => {
    const before = await ask('acp/opencode');
    assert.match(before.text, /not enabled: run `gateway agents enable opencode`/);
    assert.ok(!(await models()).includes('acp/opencode'));
    const done = await admin('POST', '/api/acp/agents', { action: 'enable', id: 'opencode' });
    assert.equal(done.status, 200, done.text);
    assert.ok((await models()).includes('acp/opencode'));
    const answer = await ask('acp/opencode');
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.text, /hello there/);
    const tested = await admin('POST', '/api/acp/agents', { action: 'test', id: 'opencode' });
    assert.match(tested.text, /It answered: /);
    assert.equal((await admin('POST', '/api/acp/agents', { action: 'disable', id: 'opencode' })).status, 200);
    assert.match((await ask('acp/opencode')).text, /not enabled/);
    const missing = await admin('PATCH', '/api/acp/agents/kilo', { enabled: true });
    assert.equal(missing.status, 200, missing.text);
    assert.match((await ask('acp/kilo')).text, /not installed: run `npm install -g @kilocode\/cli`/);
  });

  it('adds a program that its operator allows, and no other', async () => {
    refused(await admin('POST', '/api/acp/agents', { name: 'Shell', command: 'sh' }), 403, 'forbidden');
    for (const command of ['scripted-agent; id', 'scripted-agent --x', '../scripted-agent', ''])
      refused(await admin('POST', '/api/acp/agents', { name: 'Odd', command }), 400, 'bad_request');
    const made = await admin('POST', '/api/acp/agents', {
      name: 'Mine',
      command: 'scripted-agent',
      args: ['$(id)', '; rm -rf /', '`id`'],
      version_args: null,
    });
    assert.equal(made.status, 200, made.text);
    const { command, id } = made.json() as { id: string; command: string[] };
    assert.deepEqual([id, command], ['mine', ['scripted-agent', '$(id)', '; rm -rf /', '`id`']]);
    assert.equal((await admin('PATCH', '/api/acp/agents/mine', { permissions: ['read'] })).status, 200);
    assert.deepEqual((await agent('mine'))?.permissions, ['read']);
    assert.equal((await admin('DELETE', '/api/acp/agents/mine')).status, 204);
    assert.equal(await agent('mine'), undefined);
    refused(await admin('DELETE', '/api/acp/agents/claude'), 409, 'conflict');
  });

  it('lets operators look and test, and admins alone decide what runs', async () => {
    const { token } = await at.person('olga', 'operator');
    const as = (method: string, path: string, body?: object) =>
      at.call(method, path, { token, ...(body === undefined ? {} : { body }) });
    assert.equal((await as('GET', '/api/acp/agents')).status, 200);
    for (const [method, path, body] of [
      ['POST', '/api/acp/agents', { name: 'Mine', command: 'scripted-agent' }],
      ['POST', '/api/acp/agents', { action: 'enable', id: 'opencode' }],
      ['PATCH', '/api/acp/agents/opencode', { permissions: ['execute'] }],
      ['DELETE', '/api/acp/agents/opencode', undefined],
    ] as const)
      refused(await as(method, path, body), 403, 'forbidden');
    const viewer = await at.person('vera', 'viewer');
    refused(await at.call('GET', '/api/acp/agents', { token: viewer.token }), 403, 'forbidden');
    const audit = await admin('GET', '/api/audit?expand=resources&limit=100');
    assert.match(audit.text, /acp_agents\.enable/);
    assert.match(audit.text, /acp_agents\.create/);
  });

  it('is set up from the command line while it runs, and gives an agent a key of its own', async () => {
    const { gateway } = at;
    const added = await gateway.cliJson(
      'agents',
      'add',
      'own',
      '--command',
      'scripted-agent',
      '--enable',
      '--json',
    );
    assert.deepEqual([added['id'], added['usable']], ['own', true]);
    assert.match((await ask('acp/own')).text, /hello there/);
    const tested = await gateway.cliJson('agents', 'test', 'own', '--json');
    assert.equal(tested['success'], true);
    await gateway.cliJson('agents', 'permissions', 'own', 'read,search', '--json');
    const shown = await gateway.cliJson('agents', 'show', 'own', '--json');
    assert.deepEqual(shown['permissions'], ['read', 'search']);
    await gateway.cliJson(
      'agents',
      'enable',
      'opencode',
      '--through-gateway',
      '--model',
      'demo/echo',
      '--json',
    );
    const key = await readFile(join(gateway.dataDir, 'agent-keys/opencode'), 'utf8');
    assert.equal((await ask('demo/echo', key)).status, 200);
    assert.equal((await ask('demo/tools', key)).status, 403, 'its key is for its model alone');
    const keys = (await gateway.cliJson('keys', 'list', '--json'))['keys'] as { name: string }[];
    assert.ok(keys.some(({ name }) => name === 'acp-opencode'));
    const listing = await gateway.cliJson('agents', 'list', '--json');
    assert.doesNotMatch(JSON.stringify([listing, await listed(), gateway.output()]), new RegExp(key));
    await gateway.cliJson('agents', 'disable', 'opencode', '--json');
    assert.equal((await ask('demo/echo', key)).status, 401, 'the key went with it');
    await gateway.cliJson('agents', 'remove', 'own', '--json');
    const gone = await gateway.cli('agents', 'show', 'own');
    assert.deepEqual([gone.code, /There is no agent "own"/.test(gone.stderr)], [2, true]);
  });
});
