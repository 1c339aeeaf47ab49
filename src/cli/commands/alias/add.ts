import { rowOfAlias } from '../../../combos/aliases/resource.ts';
import { aliasStore } from '../../../combos/aliases/store.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';

export const aliasAddCommand: Command = {
  arguments: [
    { name: 'name', summary: 'the model id that is asked for; * stands for any text', required: true },
    {
      name: 'target',
      names: 'model',
      summary: 'the model, combo or "auto" that it stands for',
      required: true,
    },
  ],
  flags: [],
  needs: 'store',
  about:
    'A running gateway uses it at once. Each * in the target stands for the text that the same * in the name matched.',
  examples: [
    { command: 'gateway alias add gpt-4 openai/gpt-4.1', does: 'one name' },
    {
      command: 'gateway alias add "claude-*" auto',
      does: 'whatever Claude Code asks for goes to the active combo',
    },
    { command: 'gateway alias add "claude-*" "openrouter/anthropic/claude-*"', does: 'a family' },
  ],
  run: async (options, context) => {
    const [name = '', target = ''] = ['name', 'target'].map((argument) => options.argument(argument)?.trim());
    const aliases = aliasStore(await context.store(), context.now);
    const entry = { action: 'aliases.create', target: name, input: { name, target } };
    const record = await audited(context, entry, () => aliases.add({ name, target }));
    context.io.result(rowOfAlias(record), () => `"${record.name}" means ${record.target}.`);
    return 0;
  },
};
