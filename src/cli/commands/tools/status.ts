import type { Command } from '../../command.ts';
import { chosenTools, localRoot, toolIds, toolPlace } from '../../tools/gateway-facts.ts';

export const toolsStatusCommand: Command = {
  arguments: [{ name: 'tool', summary: 'only this tool', required: false, suggestions: toolIds }],
  flags: [],
  needs: 'nothing',
  about:
    'configured: it points at this gateway. other: it points at another endpoint. unknown: its program does not answer, its configuration cannot be read, or it takes its endpoint from the environment only.',
  examples: [
    { command: 'gateway tools status', does: 'every tool' },
    { command: 'gateway tools status codex --json', does: 'one tool, as a script reads it' },
  ],
  run: async (options, context) => {
    const { allStatuses } = await import('../../../tools/all-statuses.ts');
    const { createDetector } = await import('../../../tools/detection/detect.ts');
    const chosen = await chosenTools(options.argument('tool'), context);
    const place = await toolPlace(context);
    const detector = createDetector(place.machine);
    const statuses = await allStatuses(place, {
      tools: chosen,
      detector,
      gateways: [await localRoot(context)],
    });
    context.io.result({ tools: Object.fromEntries(statuses.map(({ id, ...status }) => [id, status])) }, () =>
      context.io.table(
        [
          { title: 'TOOL', cell: ({ id }) => id },
          {
            title: 'STATUS',
            cell: ({ config }) => config.status,
            style: ({ config }) => (config.status === 'configured' ? 'green' : null),
          },
          { title: 'VERSION', cell: ({ detection }) => detection.version ?? '-' },
          { title: 'MODEL', cell: ({ model }) => model ?? '-' },
          { title: 'ENDPOINT', cell: ({ config }) => config.endpoint ?? '-' },
          { title: 'PROBLEM', cell: problemOf },
        ],
        statuses,
      ),
    );
    return 0;
  },
};

function problemOf({ detection, error }: { error?: string; detection: { reason?: string } }): string {
  return error ?? detection.reason ?? '';
}
