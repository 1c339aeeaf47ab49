import { z } from 'zod';
import { builtInAgents } from '../../agents/list.ts';
import type { AgentChangeInput } from '../../agents/registry/change.ts';
import { type AgentRow, agentRecord, type RunningAgentRow } from '../../agents/registry/schema.ts';
import { agentStore } from '../../agents/registry/store.ts';
import type { AgentSettingValues } from '../../agents/registry/stored-schema.ts';
import { toolKinds } from '../../agents/schema.ts';
import type { Argument, Flag, Options } from '../command.ts';
import type { Context } from '../context.ts';
import { collection, textOf } from '../gateway/api.ts';
import type { RunningGateway } from '../gateway/client.ts';
import { failure, usageError } from '../terminal/failure.ts';

/** The argument that names an agent; those that were added are not offered by completion. */
export const agentArgument: Argument = {
  name: 'agent',
  summary: 'id of the agent',
  required: true,
  suggestions: builtInAgents.map(({ id }) => id),
};

/** Flags that say how an agent is run. */
export const agentFlags: readonly Flag[] = [
  { name: 'model', value: 'MODEL', summary: 'the model that it uses; `default` leaves that to the agent' },
  {
    name: 'through-gateway',
    summary: 'it uses the model of this gateway that --model names, with a key of its own',
  },
  { name: 'own-login', summary: "it uses its user's own login and settings (default)" },
  {
    name: 'working-directory',
    value: 'DIR',
    summary: 'the folder of its sessions; `new` makes one for each',
  },
  {
    name: 'max-processes',
    value: 'N',
    kind: 'count',
    summary: 'how many of it may run at a time (default 4)',
  },
  {
    name: 'show-tools',
    value: 'WHERE',
    choices: ['reasoning', 'text', 'none'],
    summary: 'where clients see its tool calls (default reasoning)',
  },
];

/** What the flags say. @throws a usage error */
export function settingsFromFlags(options: Options): Partial<AgentSettingValues> {
  const model = options.text('model');
  const folder = options.text('working-directory');
  const most = options.count('max-processes');
  const shown = agentRecord.shape.show_tools.safeParse(options.text('show-tools')).data;
  if (options.on('through-gateway') && options.on('own-login'))
    throw usageError('--through-gateway and --own-login exclude each other');
  if (most !== undefined && (most < 1 || most > 64))
    throw usageError('--max-processes is a number from 1 to 64');
  return {
    ...(model === undefined ? {} : { model: model === 'default' ? null : model }),
    ...(options.on('through-gateway') ? { through_gateway: true } : {}),
    ...(options.on('own-login') ? { through_gateway: false } : {}),
    ...(folder === undefined ? {} : { working_directory: folder === 'new' ? null : folder }),
    ...(most === undefined ? {} : { max_processes: most }),
    ...(shown === undefined ? {} : { show_tools: shown }),
  };
}

/** Kinds of tools in a list with commas. @throws a usage error for one that does not exist */
export function toolKindsIn(text: string): (typeof toolKinds)[number][] {
  const names = text.split(',').map((name) => name.trim());
  return names
    .filter((name) => name !== '' && name !== 'none')
    .map((name) => {
      const kind = toolKinds.find((one) => one === name);
      if (kind === undefined)
        throw usageError(`"${name}" is not a kind of tool: ${toolKinds.join(', ')}, or none`);
      return kind;
    });
}

/** What the use cases of agents need. */
export async function agentsIn(context: Context): Promise<AgentChangeInput> {
  const { agentCommands } = await context.config();
  return { agents: agentStore(await context.store()), allowedCommands: agentCommands, now: context.now };
}

/**
 * Every agent. The running gateway says how they are; without one this machine is looked at.
 * @param probe whether their programs are asked for their versions if no gateway runs
 */
export async function agentRows(
  context: Context,
  { probe }: { probe: boolean },
): Promise<(AgentRow & Partial<RunningAgentRow>)[]> {
  const gateway = await context.findGateway();
  if (gateway !== null) return z.array(agentRecord).parse(await collection(gateway, 'acp_agents'));
  const { agentPrograms } = await import('../../agents/registry/programs.ts');
  const { registeredAgents } = await import('../../agents/registry/registered.ts');
  const { rowOfAgent } = await import('../../agents/registry/row.ts');
  const { machineOf, machineVariables } = await import('../../tools/machine.ts');
  const store = await context.existingStore();
  const records = store === null ? [] : await agentStore(store).list();
  const agents = registeredAgents(records, (await context.config()).agentCommands);
  const programs = agentPrograms(machineOf(await context.variables(machineVariables)));
  if (probe) await programs.ask(agents.map(({ definition }) => definition));
  return Promise.all(agents.map(async (agent) => rowOfAgent(agent, await programs.find(agent.definition))));
}

/** One agent as it is now. @throws a failure with exit 2 when there is none of this id */
export async function agentRow(
  id: string,
  context: Context,
  { probe = false }: { probe?: boolean } = {},
): Promise<AgentRow & Partial<RunningAgentRow>> {
  const row = (await agentRows(context, { probe })).find((one) => one.id === id);
  if (row !== undefined) return row;
  const { unusableAgents } = await import('../../agents/list.ts');
  const unusable = unusableAgents.find((one) => one.id === id);
  const why =
    unusable === undefined
      ? `There is no agent "${id}": \`gateway agents list\` shows what there is`
      : `${unusable.name} cannot be used as an ACP agent: ${unusable.reason}`;
  throw failure(2, 'bad_usage', why);
}

const outcome = z.object({
  success: z.boolean(),
  message: z.string(),
  result: z.record(z.string(), z.unknown()).optional(),
});
const refusal = z.object({ code: z.string(), detail: z.string() });

/** Does something to an agent of the running gateway. @throws a failure with what the gateway says */
export async function actOnAgent(
  gateway: RunningGateway,
  id: string,
  action: string,
  timeoutMs: number,
): Promise<z.infer<typeof outcome>> {
  const answer = await gateway.send(`/api/acp_agents/${encodeURIComponent(id)}`, {
    method: 'POST',
    body: { action },
    timeoutMs,
  });
  const document: unknown = JSON.parse(await textOf(answer));
  const done = outcome.safeParse(document).data;
  if (done !== undefined) return done;
  const refused = refusal.safeParse(document).data;
  throw failure(
    1,
    refused?.code ?? 'unexpected_answer',
    refused?.detail ?? `The gateway answered ${answer.status}`,
  );
}
