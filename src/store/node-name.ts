import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../lib/files/folder.ts';
import type { Store } from './database.ts';

/**
 * What a gateway is called among those that share a database: the same after a restart, and of no other. It is a file of
 * the data directory, which is made with it by the first who asks.
 * @throws the error of the file system
 */
export function nodeName(dataDir: string): string {
  const path = join(dataDir, 'node.id');
  makeFolder(dataDir);
  try {
    writeFileSync(path, `node_${randomBytes(9).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  return readFileSync(path, 'utf8').trim();
}

/** The ids of rows that each gateway has for itself. */
export function ownIds({ node }: Pick<Store, 'node'>) {
  const before = node === '' ? '' : `${node}/`;
  return {
    stored: (id: string) => before + id,
    /** Null for a row of another gateway. */
    own: (stored: string) => (stored.startsWith(before) ? stored.slice(before.length) : null),
  };
}
