import { connectionChange } from '../../../connections/schema.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { changeableConnections, namedConnection } from '../../setup/connect.ts';
import { usageError } from '../../terminal/failure.ts';

export const providerRenameCommand: Command = {
  arguments: [
    { name: 'connection', names: 'connection', summary: 'id or name of the connection', required: true },
    { name: 'name', summary: 'its new name, first part of its model ids', required: true },
  ],
  flags: [],
  needs: 'store',
  about:
    'Combos, aliases and the models of keys that name the connection follow. Tools that ask for its models by the old name do not.',
  examples: [{ command: 'gateway provider rename anthropic work', does: 'models work/… from now on' }],
  run: async (options, context) => {
    const record = await namedConnection(options, context);
    const parsed = connectionChange.shape.name.safeParse(options.argument('name'));
    if (!parsed.success || parsed.data === undefined)
      throw usageError(`The name: ${parsed.error?.issues[0]?.message ?? 'is not valid'}`);
    const name = parsed.data;
    const stored = await changeableConnections(context);
    const entry = {
      action: 'connections.update',
      target: record.id,
      input: { name },
      before: { name: record.name },
    };
    await audited(context, entry, () => stored.update(record.id, { name }));
    context.io.result(
      { id: record.id, name, previous_name: record.name },
      () => `"${record.name}" is called "${name}" now.`,
    );
    return 0;
  },
};
