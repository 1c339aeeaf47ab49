import { z } from 'zod';
import { toolKinds } from '../schema.ts';

const plainText = (most: number) =>
  z
    .string()
    .trim()
    .min(1, 'is empty')
    .max(most, `has at most ${most} characters`)
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'has no control characters');

/** Ids stand in model ids, in file names and in commands. */
export const agentId = z
  .string()
  .max(40, 'has at most 40 characters')
  .regex(
    /^[a-z0-9]+(-[a-z0-9]+)*$/,
    'has lower-case letters, digits and hyphens between them, like my-agent',
  );

const permissionList = z.array(z.enum(toolKinds, `is one of ${toolKinds.join(', ')}`)).max(toolKinds.length);

const absolutePath = plainText(1000).regex(/^(\/|[A-Za-z]:[/\\])/, 'is an absolute path');

const modelId = plainText(300).regex(
  /^(?!acp\/)/,
  'is an agent itself: name the model that the agent is to use',
);

/** How an agent is run, where its owner decided it. */
export const agentSettings = z.strictObject({
  /** Whether it uses a model of this gateway instead of its user's own account. */
  through_gateway: z.boolean(),
  /** The model that it is told where a request names none; null leaves that to the agent. */
  model: modelId.nullable(),
  /** What it may do without a person who is asked; null for what the catalogue says. */
  permissions: permissionList.nullable(),
  /** The folder of all its sessions; null for a new one each. */
  working_directory: absolutePath.nullable(),
  /** How many processes of it may run at a time. */
  max_processes: z.int().min(1).max(64),
  /** What a client sees of the agent's tool calls. */
  show_tools: z.enum(['reasoning', 'text', 'none']),
});
export type AgentSettingValues = z.infer<typeof agentSettings>;

/** A program that its owner describes. */
const customFields = {
  name: plainText(60),
  description: plainText(200),
  docs: z.url({ protocol: /^https?$/, error: 'is an address of HTTP' }),
  /** A name on the PATH, or an absolute path. */
  command: plainText(1000).regex(
    /^([^\s/\\]+|\/.+|[A-Za-z]:[/\\].+)$/,
    'is the name of a program, or an absolute path: arguments go into "args"',
  ),
  args: z
    .array(
      z
        .string()
        .max(4096)
        .regex(/^[^\u0000\r\n]*$/, 'has no line ends'),
    )
    .max(50),
  /** Names of variables that it gets from the environment of the gateway. */
  env: z.array(z.string().regex(/^[A-Za-z_]\w{0,99}$/, 'is the name of a variable')).max(50),
  home: z.enum(['user', 'session']),
  version_args: z
    .array(z.string().regex(/^[\w.=-]{1,100}$/, 'has letters, digits, dots, equals signs and dashes'))
    .max(10)
    .nullable(),
  model_by: z.enum(['set_model', 'config_option', 'none']),
  auth_method: plainText(100).nullable(),
};

/** A custom agent as it is stored. */
export const customAgent = z.object(customFields);
export type CustomAgent = z.infer<typeof customAgent>;

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
