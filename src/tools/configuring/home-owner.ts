import { stat } from 'node:fs/promises';
import { GatewayError } from '../../lib/error.ts';
import type { Machine } from '../machine.ts';

/**
 * Refuses to write as root into the home folder of another user (`sudo` that keeps HOME): the files would be root's,
 * and the tool could change them no more. Other users are held back by the system itself.
 * @throws GatewayError `conflict`
 */
export async function checkHomeOwner({ home, platform }: Machine): Promise<void> {
  if (platform === 'win32' || process.geteuid?.() !== 0) return;
  const owner = await stat(home).catch(() => null);
  if (owner === null || owner.uid === 0) return;
  throw new GatewayError(
    'conflict',
    `${home} belongs to another user, and this process runs as root: configure the tool as that user`,
  );
}
