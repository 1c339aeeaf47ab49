import type { Options } from '../command.ts';
import { failure, usageError } from './failure.ts';
import type { Io } from './io.ts';

/**
 * Asks before something is destroyed, unless `--yes` was given.
 * @throws a failure with exit 2 where there is no terminal to ask at, with exit 1 when the answer is no
 */
export async function confirmDestruction(question: string, options: Options, io: Io): Promise<void> {
  if (options.on('yes')) return;
  if (!io.interactive)
    throw usageError(`${question} There is no terminal to ask at: repeat the command with --yes`);
  if ((await io.ask.confirm(question)) !== true)
    throw failure(1, 'cancelled', 'Cancelled, nothing was changed.');
}
