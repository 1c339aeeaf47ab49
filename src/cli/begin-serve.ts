import { serveEntry } from './commands/serve-entry.ts';
import { start } from './start.ts';

/** Starts the program for `gateway` and `gateway serve`, with that command alone. */
export const begin = (argv: readonly string[], script: string): Promise<void> =>
  start(argv, [serveEntry], script);
