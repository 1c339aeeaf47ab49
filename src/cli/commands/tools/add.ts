import { GatewayError } from '../../../lib/error.ts';
import { settingPath } from '../../../tools/custom/setting-path.ts';
import { addCustomTool } from '../../../tools/custom/store.ts';
import { formats } from '../../../tools/files/formats.ts';
import { audited } from '../../audit.ts';
import type { Command, Options } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';
import { toolPlace } from '../../tools/gateway-facts.ts';

/** Which flag fills a field, for refusals. */
const flagOf: Readonly<Record<string, string>> = {
  name: '--name',
  description: '--description',
  docs_url: '--docs-url',
  color: '--color',
  binaries: '--binary',
  environment: '--env',
  file: '--file, --format and --set',
};

export const toolsAddCommand: Command = {
  arguments: [{ name: 'id', summary: 'what it is called here, e.g. my-agent', required: true }],
  flags: [
    { name: 'name', value: 'NAME', summary: 'display name (default: the id)' },
    {
      name: 'binary',
      value: 'NAME',
      kind: 'list',
      summary: 'name of its program; may be repeated, the preferred one first (default: the id)',
    },
    {
      name: 'api',
      value: 'API',
      choices: ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'],
      summary: 'its wire format; decides whether the address ends in /v1 (default openai-chat)',
    },
    { name: 'env', value: 'NAME=VALUE', kind: 'list', summary: 'a variable that it needs; may be repeated' },
    { name: 'file', value: 'PATH', summary: 'its configuration file: absolute, or from ~/ on' },
    { name: 'format', value: 'FORMAT', choices: Object.keys(formats), summary: 'the format of that file' },
    {
      name: 'set',
      value: 'PATH=VALUE',
      kind: 'list',
      summary: 'an entry of that file, e.g. provider.url=<base_url>; may be repeated',
    },
    { name: 'description', value: 'TEXT', summary: 'one line about it' },
    { name: 'docs-url', value: 'URL', summary: 'where it is documented' },
    { name: 'color', value: 'COLOR', summary: 'its color in the dashboard, e.g. #64748B' },
    { name: 'replace', summary: 'replace a tool that was added before' },
  ],
  needs: 'store',
  about:
    'Afterwards it is detected, configured and restored as the others. Values may contain <base_url>, <api_key>, <key_variable> and <model>, which stand for the address, the gateway key, the name of the variable that holds the key, and the model.',
  examples: [
    {
      command:
        "gateway tools add my-agent --env 'OPENAI_BASE_URL=<base_url>' --env 'OPENAI_API_KEY=<api_key>'",
      does: 'a tool that takes both from its environment',
    },
    {
      command:
        "gateway tools add my-agent --file ~/.my-agent.yaml --format yaml --set 'llm.url=<base_url>' --set 'llm.key=<api_key>' --set 'llm.model=<model>'",
      does: 'a tool with a file',
    },
  ],
  run: async (options, context) => {
    const place = await toolPlace(context);
    const described = describedTool(options);
    const replace = options.on('replace');
    const entry = { action: 'tools.add', target: described.id, input: { ...described } };
    const tool = await audited(context, entry, () => addCustomTool(place, described, { replace })).catch(
      (error: unknown) => {
        throw withFlag(error);
      },
    );
    context.io.result(
      {
        id: tool.id,
        name: tool.name,
        binaries: tool.binaries,
        model_required: tool.recipe.model === 'required',
      },
      () => `${tool.name} was added: \`gateway tools configure ${tool.id}\` points it at this gateway.`,
    );
    return 0;
  },
};

/** As `customTool` has it, before it is checked. */
function describedTool(options: Options) {
  const id = options.argument('id') ?? '';
  const binaries = options.texts('binary');
  const variables = options.texts('env').map((text) => divided('--env', text));
  const [path, format] = [options.text('file'), options.text('format')];
  const settings = options.texts('set').map((text) => settingOf(text));
  if (path === undefined && (settings.length > 0 || format !== undefined))
    throw usageError('--set and --format are for a file: name it with --file');
  if (path !== undefined && format === undefined)
    throw usageError(`Say with --format what ${path} is: ${Object.keys(formats).join(', ')}`);
  const optional = {
    description: options.text('description'),
    docs_url: options.text('docs-url'),
    color: options.text('color'),
    environment: variables.length === 0 ? undefined : Object.fromEntries(variables),
    file: path === undefined ? undefined : { path, format, settings },
  };
  return {
    id,
    name: options.text('name') ?? id,
    binaries: binaries.length === 0 ? [id] : [...binaries],
    api: options.text('api') ?? 'openai-chat',
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

function settingOf(text: string) {
  const [path, value] = divided('--set', text);
  return { path: settingPath(path), value: settingValue(value) };
}

/** At the equals sign behind the name or the path; the one in `[key=value]` belongs to the path. */
function divided(flag: string, text: string): [string, string] {
  const [, name, value] = /^((?:[^=[]|\[[^\]]*\])+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw usageError(`${flag} ${text.slice(0, 100)}: write a name, an equals sign and a value`);
  return [name, value];
}

/** Numbers, `true`, `false` and lists as JSON has them; all else is text. */
function settingValue(text: string): unknown {
  if (!/^(-?\d|true$|false$|\[)/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function withFlag(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.code !== 'invalid_request') return error;
  const flag = flagOf[error.param ?? ''];
  return flag === undefined ? error : usageError(`${flag}: ${error.message}`);
}
