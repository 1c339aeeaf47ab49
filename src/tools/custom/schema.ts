import { z } from 'zod';

const plainText = (most: number) =>
  z
    .string()
    .trim()
    .min(1, 'is empty')
    .max(most, `has at most ${most} characters`)
    .regex(/^[^\u0000-\u001f\u007f]*$/, 'has no control characters');

const placeholders = ['base_url', 'api_key', 'key_variable', 'model'];

/** A text with placeholders in it. */
const template = z
  .string()
  .max(2000, 'has at most 2000 characters')
  .refine(
    (text) => [...text.matchAll(/<([a-z_]+)>/g)].every(([, name = '']) => placeholders.includes(name)),
    `has a placeholder that does not exist: there are ${placeholders.map((name) => `<${name}>`).join(', ')}`,
  );

const item = z.strictObject({ key: z.string().min(1), equals: template });

/** One entry of the tool's file: a path of names and list items, and what stands there. */
const setting = z.strictObject({
  path: z
    .array(z.union([template.min(1, 'has an empty name'), item]))
    .min(1, 'is empty')
    .max(20, 'has at most 20 steps')
    .refine(([first]) => typeof first === 'string', 'begins with a name: a file is a group of named entries'),
  value: z.union([template, z.number(), z.boolean(), z.array(template)]),
});

const file = z.strictObject({
  /** Where it is: absolute, in the home folder (`~/`), or below the folder in a variable (`$NAME/`). */
  path: plainText(1000).regex(
    /^(~[/\\]|\$[A-Za-z_]\w*[/\\]|[/\\]|[A-Za-z]:[/\\]).*[^/\\]$/,
    'is a file: /etc/tool.json, ~/.tool/config.json or $XDG_CONFIG_HOME/tool.json',
  ),
  format: z.enum(['json', 'jsonc', 'yaml', 'toml', 'env'], 'is json, jsonc, yaml, toml or env'),
  settings: z.array(setting).min(1, 'sets nothing').max(50, 'has at most 50 entries'),
});

/** A tool that its user describes: how it is found, and what it is set up with. */
export const customTool = z
  .strictObject({
    id: z
      .string()
      .regex(
        /^[a-z][a-z0-9-]{0,39}$/,
        'has small letters, digits and dashes, begins with a letter, and is at most 40 long',
      ),
    name: plainText(60),
    description: plainText(200).optional(),
    docs_url: z.url({ protocol: /^https?$/, error: 'is an address of HTTP' }).optional(),
    color: z
      .string()
      .regex(/^#[0-9A-Fa-f]{6}$/, 'looks like #64748B')
      .optional(),
    /** Names of its program, the preferred one first. */
    binaries: z
      .array(plainText(100).regex(/^[^\s/\\]+$/, 'is the name of a program, without a folder'))
      .min(1, 'names no program')
      .max(5, 'has at most 5 names'),
    /** The API that it speaks; it decides the form of the base address. */
    api: z.enum(
      ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'],
      'is openai-chat, openai-responses, anthropic-messages or gemini',
    ),
    /** What has to be in its environment. */
    environment: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/, 'is not a name of a variable'), template)
      .optional(),
    file: file.optional(),
  })
  .superRefine(({ environment, file }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    const templates = JSON.stringify([environment ?? {}, file?.settings ?? []]);
    if (environment === undefined && file === undefined)
      return refuse(
        'environment',
        'is missing, and so is a file: the gateway has to write the address somewhere',
      );
    if (!templates.includes('<base_url>'))
      refuse(file === undefined ? 'environment' : 'file', 'has no <base_url>, the address of the gateway');
    if (!/<(api_key|key_variable)>/.test(templates))
      refuse(
        file === undefined ? 'environment' : 'file',
        'has neither <api_key>, the gateway key, nor <key_variable>, the variable that holds it',
      );
    // The value is shown, and the key must not be.
    for (const [name, text] of Object.entries(environment ?? {}))
      if (text.includes('<api_key>') && text !== '<api_key>')
        refuse('environment', `has the key inside the text of ${name}: it has to stand alone there`);
    if (file?.format === 'env' && file.settings.some(({ path }) => path.length > 1))
      refuse('file', 'has a path in an .env file, which has names only');
  });

export type CustomTool = z.infer<typeof customTool>;

/** `tools.json` in the data directory. */
export const customToolsFile = z.object({ version: z.literal(1), tools: z.array(customTool) });
