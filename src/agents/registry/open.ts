import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { keyStore } from '../../access/store.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Store } from '../../store/database.ts';
import { findBinary } from '../../tools/detection/binary.ts';
import type { Machine } from '../../tools/machine.ts';
import type { AgentSetup } from '../setup.ts';
import { type AgentKey, type AgentKeysInput, agentKeys } from './gateway-keys.ts';
import type { AgentPrograms } from './programs.ts';
import { type RegisteredAgent, registeredAgents } from './registered.ts';
import { problemOf, rowOfAgent } from './row.ts';
import type { AgentRow } from './schema.ts';
import { setupOf } from './setup-of.ts';
import { agentStore } from './store.ts';

export interface AgentRegistryInput {
  store: Pick<Store, 'db'>;
  keys: ReturnType<typeof keyStore>;
  dataDir: string;
  /** The machine that programs are looked for on. */
  machine: Machine;
  /** What agents may run that were added through the API. */
  allowedCommands: readonly string[];
  /** Root of the gateway for programs on this machine: `http://127.0.0.1:20128`. */
  root(): string;
  /** Told of agents that are set up in another way than before, whose processes have to be started anew. */
  onChange(id: string): void;
}

/** The agents of a gateway, as its owner has set them up. */
export interface AgentRegistry {
  /** Every agent, enabled or not, as it was when `load` last ran. */
  setups(): readonly AgentSetup[];
  /**
   * Whether a request may go to an agent as far as the registry decides: not where something is in its way, and not from
   * another agent. @throws GatewayError `connection_unusable` with what mends it, `not_found`, `loop_detected`
   */
  check(request: { model: string; owner: string }): void;
  /** Where the program of an agent is. @throws GatewayError `connection_unusable` where it is not installed */
  locate(setup: Pick<AgentSetup, 'id' | 'binary' | 'name' | 'install'>): Promise<string>;
  /** Takes over what is stored and installed. @returns ids of those that answer requests: enabled, allowed and installed */
  load(): Promise<readonly string[]>;
  /** Every agent as it is shown. No program is run. */
  rows(): Promise<AgentRow[]>;
  /** Those of them that are enabled; where none is, nothing is looked for. */
  enabled(): Promise<AgentRow[]>;
  /** Asks the programs of all agents for their versions anew. */
  refresh(): Promise<void>;
}

interface RegistryState {
  agents: readonly RegisteredAgent[];
  /** Problems by id, of enabled agents alone: others are looked for on request. */
  problems: ReadonlyMap<string, string>;
  /** Of those that use models of this gateway, by id. */
  keys: ReadonlyMap<string, AgentKey>;
}

const nothing: RegistryState = { agents: [], problems: new Map(), keys: new Map() };

export function openAgentRegistry(input: AgentRegistryInput): AgentRegistry {
  const { allowedCommands, onChange, dataDir, machine, root } = input;
  const stored = agentStore(input.store);
  const keysOfAgents = keysInTurn({ keys: input.keys, folder: join(dataDir, 'agent-keys') });
  let loaded = nothing;
  let programs: Promise<AgentPrograms> | null = null;
  const finder = () => {
    programs ??= import('./programs.ts').then(({ agentPrograms }) => agentPrograms(machine));
    return programs;
  };
  const setups = (state: RegistryState): AgentSetup[] =>
    state.agents.map((agent) => {
      const key = state.keys.get(agent.definition.id);
      return setupOf(agent, key === undefined ? null : { baseUrl: root(), key: key.text });
    });
  const read = async () => registeredAgents(await stored.list(), allowedCommands);
  const rows = async (): Promise<AgentRow[]> => {
    const { find } = await finder();
    return Promise.all((await read()).map(async (agent) => rowOfAgent(agent, await find(agent.definition))));
  };
  return {
    setups: () => setups(loaded),
    check({ model, owner }) {
      if ([...loaded.keys.values()].some((key) => key.id === owner))
        throw new GatewayError(
          'loop_detected',
          'An agent of this gateway asks for an agent: give it another model',
        );
      const [id = ''] = model.split('/');
      const problem = loaded.problems.get(id);
      if (problem !== undefined) throw new GatewayError('connection_unusable', problem);
    },
    async locate({ binary, install, name }) {
      const binaryPath = await findBinary([binary], machine);
      if (binaryPath !== null) return binaryPath.path;
      const how =
        install === undefined || install.startsWith('see ') ? (install ?? '') : `run \`${install}\``;
      throw new GatewayError(
        'connection_unusable',
        `${name} is not installed: its program "${binary}" was not found${how === '' ? '' : `; ${how}`}`,
      );
    },
    async load() {
      const agents = await read();
      const enabled = agents.filter((agent) => agent.enabled);
      const problems = new Map<string, string>();
      if (enabled.length > 0) {
        const { find } = await finder();
        for (const agent of enabled) {
          const problem = problemOf(agent, await find(agent.definition));
          if (problem !== null) problems.set(agent.definition.id, problem);
        }
      }
      const keys = await keysOfAgents(enabled);
      const before = new Map(
        loaded.agents.map(({ definition, ...rest }) => [definition.id, stampOf(definition, rest)]),
      );
      loaded = { agents, problems, keys };
      for (const { definition, ...rest } of agents) {
        const earlier = before.get(definition.id);
        if (earlier !== undefined && earlier !== stampOf(definition, rest)) onChange(definition.id);
      }
      return enabled.map(({ definition }) => definition.id).filter((id) => !problems.has(id));
    },
    rows,
    async enabled() {
      const isEnabled = loaded.agents.some(({ enabled }) => enabled);
      return isEnabled ? (await rows()).filter(({ enabled }) => enabled) : [];
    },
    async refresh() {
      const { ask, forget } = await finder();
      forget();
      await ask((await read()).map(({ definition }) => definition));
    },
  };
}

/** What its processes were started with. */
function stampOf(
  { args, binary, env }: RegisteredAgent['definition'],
  rest: Omit<RegisteredAgent, 'definition'>,
): string {
  return JSON.stringify([args, binary, env, rest.enabled, rest.settings, rest.forbidden]);
}

/** The keys of the agents that use models of this gateway; one change after the other, and keys of others are taken away. */
function keysInTurn(input: AgentKeysInput) {
  let turn: Promise<unknown> = Promise.resolve();
  const settle = async (enabled: readonly RegisteredAgent[]): Promise<Map<string, AgentKey>> => {
    const keysByAgent = new Map<string, AgentKey>();
    const routed = enabled.flatMap(({ definition, forbidden, settings }) =>
      settings.through_gateway && settings.model !== null && forbidden === null
        ? [{ id: definition.id, model: settings.model }]
        : [],
    );
    if (routed.length === 0 && !existsSync(input.folder)) return keysByAgent;
    const keys = agentKeys(input);
    for (const { id, model } of routed) keysByAgent.set(id, await keys.ensure(id, model));
    await keys.keepOnly(new Set(keysByAgent.keys()));
    return keysByAgent;
  };
  return (enabled: readonly RegisteredAgent[]) => {
    const done = turn.then(() => settle(enabled));
    turn = done.catch(() => {});
    return done;
  };
}
