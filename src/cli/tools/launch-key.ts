import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Context } from '../context.ts';
import { makeKey } from './key.ts';

/**
 * The key with which tools are launched: an ordinary gateway key that is made once for each tool, and kept in a file of the
 * data directory that its owner alone can read. Whoever removes the key gets a new one with the next launch.
 */
export async function launchKey(toolId: string, context: Context): Promise<string> {
  const dataDir = await context.dataDir();
  const folder = join(dataDir, 'launch-keys');
  const path = join(folder, toolId);
  const content = await readFile(path, 'utf8').catch(() => '');
  const { hasKey } = await import('../../access/store.ts');
  if (content !== '' && (await hasKey(await context.store(), content))) return content;
  const key = await makeKey(`launch-${toolId}`, context);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(path, key.key, { mode: 0o600 });
  return key.key;
}
