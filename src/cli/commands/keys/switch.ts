import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { keyNotFound, namedKey } from '../../resources/key-input.ts';

/** Whoever uses the key gets 401 until it is enabled again. */
export const keysDisableCommand = switchTo(true);
export const keysEnableCommand = switchTo(false);

function switchTo(disabled: boolean): Command {
  const verb = disabled ? 'disable' : 'enable';
  return {
    arguments: [{ name: 'key', names: 'key', summary: 'id or name of the key', required: true }],
    flags: [],
    needs: 'store',
    examples: [
      {
        command: `gateway keys ${verb} laptop`,
        does: disabled ? 'requests with that key get 401 from now on' : 'the same key works again',
      },
    ],
    run: async (options, context) => {
      const { keys, name, row } = await namedKey(options, context);
      const entry = { action: `keys.${verb}`, target: row.id };
      if (!(await audited(context, entry, () => keys.update(row.id, { disabled })))) throw keyNotFound(name);
      context.io.result({ id: row.id, name, disabled }, () => `The key "${name}" is ${verb}d.`);
      return 0;
    },
  };
}
