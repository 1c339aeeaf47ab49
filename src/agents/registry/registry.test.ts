import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { authenticate } from '../../access/authenticate.ts';
import { keyStore } from '../../access/store.ts';
import { openStore, type Store } from '../../store/database.ts';
import type { Machine } from '../../tools/machine.ts';
import { addAgent, agentOf, changeAgent, removeAgent } from './change.ts';
import { type AgentRegistry, openAgentRegistry } from './open.ts';
import { agentStore } from './store.ts';

const dataDir = temporaryFolder({ after });
const bin = join(dataDir, 'bin');
const machine: Machine = { platform: 'linux', home: join(dataDir, 'home'), variables: { PATH: bin } };
const allowedCommands = ['allowed-agent'];

describe('the registry of ACP agents', () => {
  let store: Store;
  let registry: AgentRegistry;
  const restarted: string[] = [];
  const now = () => 1000;
  const changes = () => ({ agents: agentStore(store), allowedCommands, now });
  const program = (name: string) =>
    writeFileSync(join(bin, name), '#!/bin/sh\necho 1.2.3\n', { mode: 0o755 });

  before(async () => {
    mkdirSync(bin);
    store = await openStore(dataDir, { create: true });
    registry = openAgentRegistry({
      store,
      keys: keyStore(store),
      dataDir,
      machine,
      allowedCommands,
      root: () => 'http://127.0.0.1:1',
      onChange: (id) => restarted.push(id),
    });
  });
  after(() => store.close());

  it('lets nothing run before it is enabled, and nothing that is not installed', async () => {
    program('opencode');
    assert.deepEqual(await registry.load(), []);
    const row = (await registry.rows()).find(({ id }) => id === 'opencode');
    assert.deepEqual([row?.installed, row?.enabled, row?.usable], [true, false, false]);
    assert.match(row?.problem ?? '', /run `gateway agents enable opencode`/);
    await changeAgent(changes(), 'opencode', { enabled: true });
    await changeAgent(changes(), 'kilo', { enabled: true });
    assert.deepEqual(await registry.load(), ['opencode']);
    assert.doesNotThrow(() => registry.check({ model: 'opencode/some/model', owner: 'key_1' }));
    assert.throws(() => registry.check({ model: 'kilo', owner: 'key_1' }), {
      code: 'connection_unusable',
      message: /not installed.*npm install -g @kilocode\/cli/,
    });
    await assert.rejects(
      registry.locate({ id: 'kilo', name: 'Kilo Code', binary: 'kilo' }),
      /its program "kilo" was not found/,
    );
    assert.equal(
      await registry.locate({ id: 'opencode', name: 'OpenCode', binary: 'opencode' }),
      join(bin, 'opencode'),
    );
  });

  it('asks programs for their versions on demand, and remembers the answers', async (t) => {
    // However busy the machine is, the five seconds that an answer may take are not over.
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const version = async () => (await registry.rows()).find(({ id }) => id === 'opencode')?.version;
    assert.equal(await version(), null);
    await registry.refresh();
    assert.equal(await version(), '1.2.3');
  });

  it('gives an agent that uses this gateway a key for its one model, and takes it away again', async () => {
    const files = () => readdirSync(join(dataDir, 'agent-keys'));
    await changeAgent(changes(), 'opencode', { through_gateway: true, model: 'up/m-1' });
    await registry.load();
    const setup = registry.setups().find(({ id }) => id === 'opencode');
    const text = readFileSync(join(dataDir, 'agent-keys/opencode'), 'utf8');
    assert.equal(statSync(join(dataDir, 'agent-keys/opencode')).mode & 0o777, 0o600);
    assert.deepEqual(setup?.routed?.env, { MODELGATE_API_KEY: text });
    assert.deepEqual(setup?.env, [], 'nothing that leads to the settings of its user');
    const keys = () => keyStore(store).list();
    const [key] = await keys();
    assert.deepEqual([key?.name, key?.models], ['acp-opencode', ['up/m-1']]);
    assert.equal(authenticate(new Map([[key?.hash ?? '', key as never]]), [text], 0)?.name, 'acp-opencode');
    assert.throws(() => registry.check({ model: 'opencode', owner: key?.id ?? '' }), {
      code: 'loop_detected',
    });

    await changeAgent(changes(), 'opencode', { model: 'up/m-2' });
    await registry.load();
    assert.deepEqual(
      (await keys()).map(({ id, models }) => [id, models]),
      [[key?.id, ['up/m-2']]],
    );
    assert.equal(readFileSync(join(dataDir, 'agent-keys/opencode'), 'utf8'), text);

    await changeAgent(changes(), 'opencode', { through_gateway: false });
    await registry.load();
    assert.deepEqual([await keys(), files()], [[], []]);
    assert.equal(registry.setups().find(({ id }) => id === 'opencode')?.routed, null);
    assert.deepEqual(new Set(restarted), new Set(['opencode', 'kilo']), 'what runs is started anew');
  });

  it('leaves a key of the same name that somebody else created', async () => {
    await keyStore(store).add({ name: 'acp-opencode', models: null, expiresAt: null });
    await changeAgent(changes(), 'opencode', { through_gateway: true });
    await registry.load();
    await changeAgent(changes(), 'opencode', { enabled: false });
    await registry.load();
    assert.deepEqual(
      (await keyStore(store).list()).map(({ name }) => name),
      ['acp-opencode'],
    );
  });

  it('refuses settings that lead nowhere', async () => {
    const refused = (id: string, change: Parameters<typeof changeAgent>[2], message: RegExp) =>
      assert.rejects(changeAgent(changes(), id, change), { message });
    await refused('claude', { through_gateway: true }, /"model": is missing/);
    await refused('goose', { through_gateway: true, model: 'a/b' }, /cannot be pointed at this gateway/);
    await refused('claude', { working_directory: join(dataDir, 'nowhere') }, /there is no folder/);
    await refused('aider', { enabled: true }, /Aider cannot be used as an ACP agent/);
    await refused('nobody', { enabled: true }, /There is no agent "nobody"/);
    await assert.rejects(removeAgent(changes(), 'claude'), { code: 'conflict' });
  });

  it('runs what the API added only while the operator allows its program', async () => {
    program('allowed-agent');
    await assert.rejects(addAgent(changes(), { name: 'Shell', command: 'sh', args: ['-c', 'id'] }, true), {
      code: 'forbidden',
      message: /ACP_COMMANDS/,
    });
    const id = await addAgent(
      changes(),
      { name: 'My Agent 2', command: 'allowed-agent', enabled: true },
      true,
    );
    assert.equal(id, 'my-agent-2');
    assert.ok((await registry.load()).includes(id));
    const later = { ...changes(), allowedCommands: [] };
    assert.match((await agentOf(later, id)).forbidden ?? '', /ACP_COMMANDS does not name its program/);
    const elsewhere = openAgentRegistry({
      store,
      keys: keyStore(store),
      dataDir,
      machine,
      allowedCommands: [],
      root: () => '',
      onChange: () => {},
    });
    assert.ok(!(await elsewhere.load()).includes(id));
    assert.equal(elsewhere.setups().find((one) => one.id === id)?.enabled, false);
    await assert.rejects(addAgent(changes(), { name: 'My Agent 2', command: 'allowed-agent' }, true), {
      code: 'conflict',
    });
    await assert.rejects(addAgent(changes(), { id: 'claude', name: 'x', command: 'allowed-agent' }, false), {
      code: 'conflict',
    });
    await removeAgent(changes(), id);
    assert.ok(!(await registry.load()).includes(id));
  });
});
