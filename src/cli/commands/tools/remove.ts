import { removeCustomTool } from '../../../tools/custom/store.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';
import { toolFlags } from '../../tools/flags.ts';
import { toolPlace } from '../../tools/gateway-facts.ts';

export const toolsRemoveCommand: Command = {
  arguments: [{ name: 'id', summary: 'id of the tool', required: true }],
  flags: [toolFlags.yes],
  needs: 'store',
  about: 'Removes only tools that you added. It does not touch files of the tool, so restore it first.',
  examples: [{ command: 'gateway tools remove my-agent --yes', does: 'forgets a tool without asking' }],
  run: async (options, context) => {
    const id = options.argument('id') ?? '';
    const { dataDir } = await toolPlace(context);
    await confirmDestruction(`Forget the tool "${id}"?`, options, context.io);
    await audited(context, { action: 'tools.remove', target: id }, () => removeCustomTool(dataDir, id));
    context.io.result({ id, removed: true }, () => `The tool "${id}" was removed.`);
    return 0;
  },
};
