import { commandList } from './commands/index.ts';
import { start } from './start.ts';

/** Starts the program with every command. */
export const begin = (argv: readonly string[], script: string): Promise<void> =>
  start(argv, commandList, script);
