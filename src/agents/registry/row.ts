import type { Detection } from '../../tools/schema.ts';
import type { RegisteredAgent } from './registered.ts';
import type { AgentRow } from './schema.ts';

/** Whether and where the program of an agent is. */
export type ProgramInfo = Pick<Detection, 'installed' | 'commandPath' | 'version' | 'reason'>;

/** An agent as it is shown. */
export function rowOfAgent(agent: RegisteredAgent, program: ProgramInfo): AgentRow {
  const { builtIn, definition, enabled, record, settings } = agent;
  const { args, binary, description, docs, env, evidence, id, install, name, route } = definition;
  const problem = problemOf(agent, program);
  return {
    id,
    name,
    description,
    docs,
    install: install ?? null,
    built_in: builtIn,
    model_id: `acp/${id}`,
    enabled,
    installed: program.installed,
    usable: problem === null,
    problem,
    version: program.version ?? null,
    program: program.commandPath ?? null,
    command: [binary, ...args],
    env: [...env],
    can_use_gateway: route !== undefined,
    ...settings,
    permissions: [...settings.permissions],
    evidence: evidence === undefined ? null : { ...evidence },
    created_at: iso(record?.createdAt),
    updated_at: iso(record?.updatedAt),
  };
}

/** Why an agent answers no requests, with the command that mends it; null when it does. */
export function problemOf(
  { definition, enabled, forbidden }: RegisteredAgent,
  { installed, reason }: ProgramInfo,
): string | null {
  const { binary, id, install, name } = definition;
  if (!installed) {
    const how = install === undefined ? `install "${binary}"` : mending(install);
    return `${name} is not installed${reason === undefined ? '' : ` (${reason})`}: ${how}`;
  }
  if (!enabled) return `${name} is not enabled: run \`gateway agents enable ${id}\``;
  return forbidden === null ? null : `${name} may not be run: ${forbidden}`;
}

function mending(install: string): string {
  return install.startsWith('see ') ? install : `run \`${install}\``;
}

function iso(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}
