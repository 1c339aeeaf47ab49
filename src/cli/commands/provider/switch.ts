import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { changeableConnections, namedConnection } from '../../setup/connect.ts';

/** A paused connection gets no requests; those under way go on, and combos use their other targets. */
export const providerPauseCommand = switchTo(false);
export const providerResumeCommand = switchTo(true);

function switchTo(active: boolean): Command {
  const verb = active ? 'resume' : 'pause';
  return {
    arguments: [
      { name: 'connection', names: 'connection', summary: 'id or name of the connection', required: true },
    ],
    flags: [],
    needs: 'store',
    about: 'A running gateway does so at once; open requests may finish.',
    examples: [
      {
        command: `gateway provider ${verb} work`,
        does: active ? 'it takes requests again' : 'combos go on with their other targets',
      },
    ],
    run: async (options, context) => {
      const { id, name } = await namedConnection(options, context);
      const stored = await changeableConnections(context);
      const entry = { action: active ? 'connections.enable' : 'connections.disable', target: id };
      await audited(context, entry, () => stored.update(id, { active }));
      context.io.result({ id, name, active }, () =>
        active ? `The connection "${name}" takes requests again.` : `The connection "${name}" is paused.`,
      );
      return 0;
    },
  };
}
