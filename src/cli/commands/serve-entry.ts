import type { CommandEntry } from '../command.ts';

/** Apart from the others, so that a start of the gateway loads none of them. */
export const serveEntry: CommandEntry = {
  name: 'serve',
  summary: 'Start the gateway (also: `gateway` alone)',
  load: async () => (await import('./serve.ts')).serveCommand,
};
