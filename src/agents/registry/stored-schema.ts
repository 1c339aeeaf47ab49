import { z } from 'zod';
import { toolKinds } from '../schema.ts';

const plainText = (most: number) =>
  z
    .string()
    .trim()
    .min(1, 'is empty')
    .max(most, `has at most ${most} characters`)
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'has no control characters');

export const permissionList = z
  .array(z.enum(toolKinds, `is one of ${toolKinds.join(', ')}`))
  .max(toolKinds.length);

const absolutePath = plainText(1000).regex(/^(\/|[A-Za-z]:[/\\])/, 'is an absolute path');

const modelId = plainText(300).regex(
  /^(?!acp\/)/,
  'is an agent itself: name the model that the agent is to use',
);

/** How an agent is run, where its owner decided it. */
export const agentSettings = z.strictObject({
  /** Whether it uses a model of this gateway instead of its user's own account. */
  through_gateway: z.boolean(),
  /** The model that it uses where a request names none; null leaves that to the agent. */
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
export const customFields = {
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
