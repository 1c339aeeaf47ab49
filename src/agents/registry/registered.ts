import type { AgentDefinition } from '../definition.ts';
import { builtInAgents } from '../list.ts';
import { defaultSetup } from '../setup.ts';
import type { AgentRecord } from './store.ts';
import type { AgentSettingValues, CustomAgent } from './stored-schema.ts';

/** An agent with what was decided about it. */
export interface RegisteredAgent {
  definition: AgentDefinition;
  builtIn: boolean;
  /** What was decided; null for an agent about which nothing was. */
  record: AgentRecord | null;
  enabled: boolean;
  settings: Omit<AgentSettingValues, 'permissions'> & { permissions: AgentDefinition['permissions'] };
  /** Why its program may not be run; null when it may. */
  forbidden: string | null;
}

/** What holds for an agent about which nothing was decided. */
const defaultSettings: AgentSettingValues = {
  through_gateway: false,
  model: null,
  permissions: null,
  working_directory: null,
  max_processes: defaultSetup.maxProcesses,
  show_tools: defaultSetup.showTools,
};

/**
 * The agents of the catalogue, in its order, and behind them those that were added.
 * @param allowedCommands what agents may run that were added through the API
 */
export function registeredAgents(
  records: readonly AgentRecord[],
  allowedCommands: readonly string[],
): RegisteredAgent[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  const added = records.flatMap((record) =>
    record.custom === null
      ? []
      : [{ definition: customDefinition(record.id, record.custom), builtIn: false, record }],
  );
  const builtIns = builtInAgents.map((definition) => ({
    definition,
    builtIn: true,
    record: byId.get(definition.id) ?? null,
  }));
  return [...builtIns, ...added].map((one) => {
    const { definition, record } = one;
    const settings = { ...defaultSettings, ...record?.settings };
    return {
      ...one,
      enabled: record?.enabled ?? false,
      settings: { ...settings, permissions: settings.permissions ?? definition.permissions },
      forbidden:
        record?.byApi === true && !allowedCommands.includes(definition.binary)
          ? `ACP_COMMANDS does not name its program "${definition.binary}", and it was added through the API: add the program there and restart the gateway`
          : null,
    };
  });
}

function customDefinition(id: string, custom: CustomAgent): AgentDefinition {
  const { args, auth_method, command, description, docs, env, home, model_by, name, version_args } = custom;
  return {
    id,
    name,
    description,
    docs,
    binary: command,
    args,
    env,
    home,
    cwd: 'session',
    version: version_args === null ? null : { args: version_args },
    model: { by: model_by },
    ...(auth_method === null ? {} : { authMethod: auth_method }),
    permissions: [],
    capabilities: { fs: true, terminal: true },
    startTimeoutMs: 60_000,
  };
}
