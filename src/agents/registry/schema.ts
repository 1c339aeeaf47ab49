import { z } from 'zod';
import { agentSettings, customFields, permissionList } from './stored-schema.ts';

/** Ids stand in model ids, in file names and in commands. */
export const agentId = z
  .string()
  .max(40, 'has at most 40 characters')
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    'has lower-case letters, digits and hyphens between them, like my-agent',
  );

/** A new agent as the API takes it. Its id is made of its name where it has none. */
export const newAgentInput = z.strictObject({
  id: agentId.optional(),
  name: customFields.name,
  command: customFields.command,
  args: customFields.args.optional(),
  description: customFields.description.optional(),
  docs: customFields.docs.optional(),
  env: customFields.env.optional(),
  home: customFields.home.optional(),
  version_args: customFields.version_args.optional(),
  model_by: customFields.model_by.optional(),
  auth_method: customFields.auth_method.optional(),
  enabled: z.boolean().optional(),
  ...agentSettings.partial().shape,
});
export type NewAgentInput = z.infer<typeof newAgentInput>;

/** What may be changed of an agent. */
export const agentChange = z.strictObject({ enabled: z.boolean(), ...agentSettings.shape }).partial();
export type AgentChange = z.infer<typeof agentChange>;

const instant = z.iso.datetime();

/** An agent as it is shown. */
export const agentRow = z.object({
  id: agentId,
  name: z.string(),
  description: z.string(),
  docs: z.string().nullable(),
  /** How it is installed: a command, or where to look. */
  install: z.string().nullable(),
  built_in: z.boolean(),
  /** The model id that answers through it: `acp/opencode`. */
  model_id: z.string(),
  enabled: z.boolean(),
  /** Whether its program was found. */
  installed: z.boolean(),
  /** Enabled, installed and allowed: model requests reach it. */
  usable: z.boolean(),
  /** What stands in the way, with the command that mends it; null when nothing does. */
  problem: z.string().nullable(),
  version: z.string().nullable(),
  /** Path of its program. */
  program: z.string().nullable(),
  /** The program and its arguments. */
  command: z.array(z.string()),
  /** Names of the variables that it gets from the environment of the gateway. */
  env: z.array(z.string()),
  /** Whether it can use models of this gateway. */
  can_use_gateway: z.boolean(),
  ...agentSettings.shape,
  permissions: permissionList,
  /** What its facts were seen in; null for one that was added. */
  evidence: z.object({ package: z.string(), by: z.enum(['run', 'read']), date: z.string() }).nullable(),
  created_at: instant.nullable(),
  updated_at: instant.nullable(),
});
export type AgentRow = z.infer<typeof agentRow>;

/** The same with how it is just now, as the API of a running gateway shows it. */
export const agentRecord = agentRow.extend({
  /** Processes of it that run. */
  processes: z.int(),
  /** Requests that wait for one. */
  waiting: z.int(),
  /** How often one ended by itself, or could not be started, since the gateway was started. */
  failures: z.int(),
  last_error: z.object({ message: z.string(), at: instant }).nullable(),
  /** The last lines that its processes printed. */
  output: z.array(z.string()),
});
export type RunningAgentRow = z.infer<typeof agentRecord>;
