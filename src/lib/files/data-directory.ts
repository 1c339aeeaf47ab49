import { homedir } from 'node:os';
import { join } from 'node:path';
import { GatewayError } from '../error.ts';

/**
 * Where data is kept when nobody says: the XDG base directory, on Windows the user's local application data.
 * @throws GatewayError where the user has no home directory
 */
export function defaultDataDirectory(env: Readonly<Record<string, string | undefined>>): string {
  if (env['XDG_DATA_HOME']) return join(env['XDG_DATA_HOME'], 'modelgate');
  if (process.platform === 'win32' && env['LOCALAPPDATA']) return join(env['LOCALAPPDATA'], 'modelgate');
  return join(env['HOME'] || userHome(), '.local', 'share', 'modelgate');
}

/** @throws GatewayError where there is none: no entry in the user database, or an empty HOME */
function userHome(): string {
  let home = '';
  let cause: unknown = 'HOME is empty';
  try {
    home = homedir();
  } catch (error) {
    cause = error;
  }
  if (home !== '') return home;
  throw new GatewayError(
    'invalid_request',
    'This user has no home directory: set DATA_DIR, or give --data-dir',
    { param: 'DATA_DIR', cause },
  );
}
