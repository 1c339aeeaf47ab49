import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { GatewayError } from '../error.ts';

/**
 * Makes a folder and those above it that are missing, readable by their owner only. Node's own `recursive` never
 * returns where a file system says ENOENT of a folder whose parent exists, as /proc does.
 * @throws GatewayError that names the folder and what kept it from being made
 */
export function makeFolder(path: string): void {
  try {
    makeMissing(path);
  } catch (error) {
    throw new GatewayError(
      'internal_error',
      `The folder ${path} cannot be made: ${(error as Error).message}. Choose another data directory with --data-dir or DATA_DIR`,
      { cause: error },
    );
  }
}

function makeMissing(path: string): void {
  if (existsSync(path)) {
    if (!statSync(path).isDirectory()) throw new Error(`${path} is not a folder`);
    return;
  }
  const parent = dirname(path);
  if (parent !== path) makeMissing(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process made it first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
