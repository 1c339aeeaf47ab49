import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/** A disk whose writes can be made to wait. */
export interface StallingDisk {
  /** Where its files are. */
  readonly folder: string;
  /** From here on whoever writes waits, in the kernel. */
  stall(): void;
  resume(): void;
  /** Takes it away, with all that it holds. */
  close(): void;
}

const MEGABYTES = '512';

/**
 * A file system of its own in a file, which is frozen and thawed (fsfreeze(8)): what a disk does that answers late.
 * @returns null where this process may not mount one
 */
export function openStallingDisk(folder: string): StallingDisk | null {
  if (process.getuid?.() !== 0) return null;
  const [image, place] = [`${folder}.img`, folder];
  const run = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
  mkdirSync(place, { recursive: true });
  const made =
    run('truncate', '-s', `${MEGABYTES}M`, image) &&
    run('mkfs.ext4', '-q', '-F', image) &&
    run('mount', '-o', 'loop', image, place);
  if (!made) return null;
  const resume = () => void run('fsfreeze', '--unfreeze', place);
  const close = () => {
    process.off('exit', close);
    resume();
    run('umount', '--lazy', place);
  };
  process.once('exit', close);
  return { folder: place, stall: () => void run('fsfreeze', '--freeze', place), resume, close };
}
