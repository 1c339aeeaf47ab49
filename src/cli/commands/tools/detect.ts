import type { Command } from '../../command.ts';
import { chosenTools, toolIds, toolPlace } from '../../tools/gateway-facts.ts';

export const toolsDetectCommand: Command = {
  arguments: [{ name: 'tool', summary: 'only this tool', required: false, suggestions: toolIds }],
  flags: [],
  needs: 'nothing',
  about:
    'Looks along PATH and where installers put programs, and asks each for its version. All at once, five seconds each at most, in an empty folder: settings, caches and logins of the tools are not touched.',
  examples: [{ command: 'gateway tools detect --json', does: 'every tool, with path and version' }],
  run: async (options, context) => {
    const { createDetector } = await import('../../../tools/detection/detect.ts');
    const chosen = await chosenTools(options.argument('tool'), context);
    const { machine } = await toolPlace(context);
    const detections = await createDetector(machine).detectAll(chosen);
    const rows = chosen.map(({ id, name }) => ({
      id,
      name,
      ...(detections.get(id) ?? { installed: false, runnable: false }),
    }));
    context.io.result({ tools: rows }, () =>
      context.io.table(
        [
          { title: 'TOOL', cell: ({ id }) => id },
          { title: 'INSTALLED', cell: ({ installed }) => (installed ? 'yes' : 'no') },
          { title: 'VERSION', cell: ({ version }) => version ?? '-' },
          { title: 'PROGRAM', cell: ({ commandPath }) => commandPath ?? '-' },
          { title: 'PROBLEM', cell: ({ reason }) => reason ?? '' },
        ],
        rows,
      ),
    );
    return 0;
  },
};
