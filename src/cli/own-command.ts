import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config.ts';

/** The starter in a clone; a package has none, for npm makes its own. */
const cloneStarter = fileURLToPath(new URL('../../bin/gateway', import.meta.url));

/** How this program is called in a shell on this machine, and the flags by which its commands find this gateway. */
export interface OwnCommand {
  program: string;
  /** Empty, or with a blank before it. */
  flags: string;
}

/**
 * @param searchPath the variable PATH
 * @param started the program that Node.js runs
 */
export function ownCommand(
  { dataDir, sources }: Pick<Config, 'dataDir' | 'sources'>,
  { searchPath, started }: { searchPath: string; started: string },
): OwnCommand {
  const own = new Set([real(started), real(cloneStarter)]);
  const isOnPath = searchPath.split(delimiter).some((folder) => {
    const path = folder === '' ? null : real(join(folder, 'gateway'));
    return path !== null && own.has(path);
  });
  const program = isOnPath ? 'gateway' : quoted(existsSync(cloneStarter) ? cloneStarter : started);
  // Where the folder is not the default, another shell would look elsewhere.
  return { program, flags: sources.dataDir === 'default' ? '' : ` --data-dir ${quoted(dataDir)}` };
}

function real(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
