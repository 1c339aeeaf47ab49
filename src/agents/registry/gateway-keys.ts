import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashKey } from '../../access/keys/keys.ts';
import type { KeyRecord } from '../../access/schema.ts';
import type { keyStore } from '../../access/store.ts';

export interface AgentKeysInput {
  keys: Pick<ReturnType<typeof keyStore>, 'add' | 'isTaken' | 'update' | 'remove' | 'withHash'>;
  /** `DATA_DIR/agent-keys`: one file for each agent, which its owner alone can read. */
  folder: string;
}

/** A gateway key that an agent uses. */
export interface AgentKey {
  id: string;
  text: string;
}

/** The gateway keys of agents that use models of this gateway: ordinary keys, each for one model alone. */
export interface AgentKeys {
  /** The key of an agent, made where it has none. @param model what it may ask for */
  ensure(agent: string, model: string): Promise<AgentKey>;
  /** Removes the keys of all agents but these. */
  keepOnly(agents: ReadonlySet<string>): Promise<void>;
}

export function agentKeys({ folder, keys }: AgentKeysInput): AgentKeys {
  const read = async (agent: string): Promise<{ text: string; record: KeyRecord } | null> => {
    const text = await readFile(join(folder, agent), 'utf8').catch(() => '');
    if (text === '') return null;
    const hash = hashKey(text);
    const record = await keys.withHash(hash);
    return record === null ? null : { text, record };
  };
  return {
    async ensure(agent, model) {
      const storedKey = await read(agent);
      if (storedKey !== null) {
        const { record, text } = storedKey;
        if (record.models?.length !== 1 || record.models[0] !== model)
          await keys.update(record.id, { models: [model] });
        return { id: record.id, text };
      }
      const { key, record } = await keys.add({
        name: await freeName(`acp-${agent}`, keys),
        models: [model],
        expiresAt: null,
      });
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const path = join(folder, agent);
      await writeFile(path, key, { mode: 0o600 });
      // A file that was there keeps its mode otherwise.
      await chmod(path, 0o600);
      return { id: record.id, text: key };
    },
    async keepOnly(agents) {
      const files = await readdir(folder).catch(() => []);
      for (const agent of files.filter((name) => !agents.has(name))) {
        const storedKey = await read(agent);
        if (storedKey !== null) await keys.remove(storedKey.record.id);
        await rm(join(folder, agent), { force: true });
      }
    },
  };
}

async function freeName(base: string, keys: Pick<AgentKeysInput['keys'], 'isTaken'>): Promise<string> {
  let name = base;
  for (let number = 2; await keys.isTaken(name); number += 1) name = `${base}-${number}`;
  return name;
}
