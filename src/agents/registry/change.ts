import { stat } from 'node:fs/promises';
import { atFault } from '../../http/collection/input.ts';
import { GatewayError } from '../../lib/error.ts';
import { builtInAgents, unusableAgents } from '../list.ts';
import { type RegisteredAgent, registeredAgents } from './registered.ts';
import { type AgentChange, agentId, type NewAgentInput } from './schema.ts';
import type { AgentRecord, AgentStore } from './store.ts';
import type { CustomAgent } from './stored-schema.ts';

export interface AgentChangeInput {
  agents: AgentStore;
  /** What agents may run that are added through the API. */
  allowedCommands: readonly string[];
  /** Milliseconds since the epoch. */
  now(): number;
}

/** An agent of the catalogue or one that was added. @throws GatewayError `not_found`, with the reason where there is one */
export async function agentOf(
  { agents, allowedCommands }: AgentChangeInput,
  id: string,
): Promise<RegisteredAgent> {
  const agent = registeredAgents(await agents.list(), allowedCommands).find(
    ({ definition }) => definition.id === id,
  );
  if (agent !== undefined) return agent;
  const unusable = unusableAgents.find((one) => one.id === id);
  if (unusable !== undefined)
    throw new GatewayError(
      'not_found',
      `${unusable.name} cannot be used as an ACP agent: ${unusable.reason}`,
    );
  throw new GatewayError(
    'not_found',
    `There is no agent "${id.slice(0, 60)}": \`gateway agents list\` shows what there is`,
  );
}

/**
 * Describes and stores an agent.
 * @param byApi whether the management API asks for it from elsewhere than this machine's command line
 * @returns its id
 * @throws GatewayError `forbidden` for a program that is not allowed, `conflict` for an id that is taken, `invalid_request`
 */
export async function addAgent(
  input: AgentChangeInput,
  newAgent: NewAgentInput,
  byApi: boolean,
): Promise<string> {
  const { agents, allowedCommands, now } = input;
  const id = newAgent.id ?? idOfName(newAgent.name);
  if (byApi && !allowedCommands.includes(newAgent.command))
    throw new GatewayError(
      'forbidden',
      `The program "${newAgent.command.slice(0, 200)}" is not on the list of ACP_COMMANDS: ask the operator to add it there, or run \`gateway agents add ${id} --command PROGRAM\` on this machine`,
      { param: 'command' },
    );
  const reserved = [...builtInAgents, ...unusableAgents].some((one) => one.id === id);
  if (reserved) throw idTaken(id);
  const { custom, enabled, settings } = divided(newAgent);
  await checkFolder(settings.working_directory);
  if (settings.through_gateway === true) throw noRoute(custom.name);
  const at = now();
  const record = { id, enabled, settings, custom, byApi, createdAt: at, updatedAt: at };
  if (!(await agents.add(record))) throw idTaken(id);
  return id;
}

/**
 * Changes what was decided about an agent.
 * @throws GatewayError `not_found`, `invalid_request`
 */
export async function changeAgent(input: AgentChangeInput, id: string, change: AgentChange): Promise<void> {
  const { agents, now } = input;
  const { definition, enabled, record } = await agentOf(input, id);
  const { enabled: enable = enabled, ...changedSettings } = change;
  const settings: AgentRecord['settings'] = { ...record?.settings, ...changedSettings };
  await checkFolder(changedSettings.working_directory);
  if (settings.through_gateway === true && definition.route === undefined) throw noRoute(definition.name);
  if (settings.through_gateway === true && (settings.model ?? null) === null)
    throw atFault('model', `is missing: say which model of this gateway ${definition.name} is to use`);
  const at = now();
  await agents.put({
    id,
    settings,
    enabled: enable,
    custom: record?.custom ?? null,
    byApi: record?.byApi ?? false,
    createdAt: record?.createdAt ?? at,
    updatedAt: at,
  });
}

/** Forgets an agent that was added. @throws GatewayError `not_found`, or `conflict` for one of the catalogue */
export async function removeAgent(input: AgentChangeInput, id: string): Promise<void> {
  const { builtIn } = await agentOf(input, id);
  if (builtIn)
    throw new GatewayError(
      'conflict',
      `"${id}" is part of the catalog and cannot be removed: \`gateway agents disable ${id}\` turns it off`,
    );
  await input.agents.remove(id);
}

function divided(newAgent: NewAgentInput): {
  custom: CustomAgent;
  enabled: boolean;
  settings: AgentRecord['settings'];
} {
  const { id: _, name, command, args, description, docs, env, home, version_args, ...others } = newAgent;
  const { auth_method, enabled = false, model_by, ...settings } = others;
  return {
    custom: {
      name,
      command,
      args: args ?? [],
      description: description ?? 'An agent that was added to this gateway',
      docs: docs ?? 'https://agentclientprotocol.com',
      env: env ?? [],
      home: home ?? 'session',
      version_args: version_args === undefined ? ['--version'] : version_args,
      model_by: model_by ?? 'none',
      auth_method: auth_method ?? null,
    },
    enabled,
    settings,
  };
}

/** `My Agent 2` → `my-agent-2`. @throws GatewayError `invalid_request` for a name without letters and digits */
function idOfName(name: string): string {
  const id = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40)
    .replace(/-$/, '');
  if (agentId.safeParse(id).success) return id;
  throw atFault('id', 'is missing: none can be made of the name');
}

async function checkFolder(path: string | null | undefined): Promise<void> {
  if (path === null || path === undefined) return;
  const stats = await stat(path).catch(() => null);
  if (stats?.isDirectory() !== true) throw atFault('working_directory', `there is no folder ${path}`);
}

function noRoute(name: string): GatewayError {
  return atFault(
    'through_gateway',
    `${name} cannot be pointed at this gateway: it uses its user's own login`,
  );
}

function idTaken(id: string): GatewayError {
  return new GatewayError('conflict', `There is an agent "${id}" already: take another id`, { param: 'id' });
}
