import { addAgent } from '../../../agents/registry/change.ts';
import { newAgentInput } from '../../../agents/registry/schema.ts';
import { audited } from '../../audit.ts';
import type { Command, Options } from '../../command.ts';
import { agentFlags, agentRow, agentsIn, settingsFromFlags } from '../../resources/agents.ts';
import { usageError } from '../../terminal/failure.ts';

export const agentsAddCommand: Command = {
  arguments: [{ name: 'agent', summary: 'an id for it: its model is acp/ID', required: true }],
  flags: [
    { name: 'command', value: 'PROGRAM', summary: 'a program on the PATH, or its absolute path' },
    { name: 'arg', value: 'ARG', kind: 'list', summary: 'an argument of the program; may be repeated' },
    { name: 'name', value: 'NAME', summary: 'what it is called (default: the id)' },
    { name: 'env', value: 'VARIABLE', kind: 'list', summary: 'a variable that it gets; may be repeated' },
    {
      name: 'home',
      value: 'WHOSE',
      choices: ['user', 'session'],
      summary: 'home folder that it sees (default session)',
    },
    {
      name: 'model-by',
      value: 'WAY',
      choices: ['set_model', 'config_option', 'none'],
      summary: 'how a session’s model is set (default none)',
    },
    {
      name: 'auth-method',
      value: 'ID',
      summary: 'its login method for `authenticate`, where it requires one',
    },
    { name: 'no-version', summary: 'it cannot be asked with --version' },
    { name: 'enable', summary: 'enable it at once' },
    ...agentFlags.filter(({ name }) => name !== 'through-gateway' && name !== 'own-login'),
  ],
  needs: 'store',
  about:
    'For a program that speaks the Agent Client Protocol on its standard input and output. It is started without a shell, with these arguments and a nearly empty environment.',
  examples: [
    {
      command: 'gateway agents add pi --command pi-acp --home user --enable',
      does: 'acp/pi answers, with the settings of your user',
    },
    {
      command: 'gateway agents add mine --command /opt/mine/agent --arg=--acp --env MINE_TOKEN',
      does: 'one of your own',
    },
  ],
  run: async (options, context) => {
    const id = options.argument('agent') ?? '';
    const parsed = newAgentInput.safeParse(described(id, options));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw usageError(`${issue?.path.join('.') ?? 'the agent'}: ${issue?.message ?? 'cannot be used'}`);
    }
    const { args, command, env } = parsed.data;
    const agents = await agentsIn(context);
    await audited(context, { action: 'acp_agents.create', target: id, input: { command, args, env } }, () =>
      addAgent(agents, parsed.data, false),
    );
    await context.settle();
    const row = await agentRow(id, context);
    context.io.result(row, () =>
      row.problem === null
        ? `${row.name} answers as the model ${row.model_id}. Try it with \`gateway agents test ${id}\`.`
        : `Added ${row.name}. ${row.problem}`,
    );
    return 0;
  },
};

/** As `newAgentInput` has it, before it is checked. */
function described(id: string, options: Options) {
  const optional = {
    home: options.text('home'),
    model_by: options.text('model-by'),
    auth_method: options.text('auth-method'),
    version_args: options.on('no-version') ? null : undefined,
  };
  const command = options.text('command');
  if (command === undefined) throw usageError('Name the program with --command');
  return {
    id,
    name: options.text('name') ?? id,
    command,
    args: [...options.texts('arg')],
    env: [...options.texts('env')],
    enabled: options.on('enable'),
    ...settingsFromFlags({ ...options, on: (flag) => flag === 'enable' && options.on(flag) }),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}
