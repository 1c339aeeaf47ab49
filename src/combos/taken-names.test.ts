import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { connectionStore } from '../connections/store.ts';
import { GatewayError } from '../lib/error.ts';
import { openStore } from '../store/database.ts';
import { aliasStore } from './aliases/store.ts';
import { comboStore } from './store.ts';

/** The stores of a data directory, as one process has them open. */
async function storesOf(test: TestContext, folder: string) {
  const store = await openStore(folder);
  test.after(() => store.close());
  const connections = connectionStore(store, Buffer.alloc(32, 1));
  const combos = comboStore(store);
  const aliases = aliasStore(store);
  return {
    store,
    connections,
    combos,
    aliases,
    add: {
      connection: (name: string, provider = 'groq') =>
        connections.add({ provider, name, baseUrl: null, apiKey: 'k', defaultModel: null }),
      combo: (name: string) => combos.add({ name, targets: [{ target: 'demo/echo', weight: 1 }] }),
      alias: (name: string) => aliases.add({ name, target: 'demo/echo' }),
    },
  };
}

type Kind = 'connection' | 'combo' | 'alias';
const kinds: readonly Kind[] = ['connection', 'combo', 'alias'];

async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'taken over';
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    assert.equal(error.param, 'name');
    return error.message;
  }
}

describe('a name that is taken', () => {
  for (const first of kinds)
    for (const second of kinds)
      it(`by a ${first} cannot be given to a ${second}, new or renamed`, async (test) => {
        const { add, aliases, combos, connections } = await storesOf(test, temporaryFolder(test));
        const rename = { connection: connections, combo: combos, alias: aliases };
        await add[first]('lab');
        const other = await add[second]('other');
        assert.match(await refusal(add[second]('lab')), /"lab" exists already/);
        const renamed = rename[second].update(other.id, { name: 'lab' });
        assert.match(await refusal(renamed), /"lab" exists already/);
        assert.notEqual(await rename[second].find('other'), null, 'a refused name changes nothing');
      });

  it('is not that of a provider or a reserved word', async (test) => {
    const { add } = await storesOf(test, temporaryFolder(test));
    for (const kind of kinds) {
      assert.match(await refusal(add[kind]('openai')), /provider OpenAI/);
      assert.match(await refusal(add[kind]('demo')), /provider/);
      assert.match(await refusal(add[kind]('Claude')), /"claude\/"/);
      assert.match(await refusal(add[kind]('auto')), /active combo/);
    }
    assert.ok(await add.connection('openai', 'openai'), 'a connection may be called like its own provider');
  });

  it('goes to one of three processes that claim it at the same moment', async (test) => {
    const folder = temporaryFolder(test);
    const processes = [
      await storesOf(test, folder),
      await storesOf(test, folder),
      await storesOf(test, folder),
    ];
    for (const name of ['a', 'b', 'c', 'd']) {
      const outcomes = await Promise.all(
        processes.map(({ add }, index) => refusal(add[kinds[index] ?? 'alias'](name))),
      );
      assert.equal(outcomes.filter((outcome) => outcome === 'taken over').length, 1, outcomes.join('; '));
    }
  });
});
