import { randomBytes } from 'node:crypto';
import { mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { GatewayError } from '../../lib/error.ts';
import type { AgentSetup } from '../setup.ts';

/** Where one session of an agent works. */
export interface SessionFolder {
  /** Names it below the folder of its agent. */
  id: string;
  /** Its working directory, without symbolic links. */
  work: string;
  /** Its own home folder; null where the agent has its user's. */
  home: string | null;
  /** Removes what was made for it. A folder that its owner named stays. */
  remove(): Promise<void>;
}

/** Readable by their owner alone. */
const PRIVATE = 0o700;

/**
 * Makes the folder of a new session, `DATA_DIR/agents/<agent>/<session>`, with its working directory and home folder.
 * @param root `DATA_DIR/agents`
 * @throws GatewayError `connection_unusable` where the folder that the owner named is not there
 */
export async function makeSessionFolder(
  root: string,
  { cwd, home, id: agent, routed }: Pick<AgentSetup, 'id' | 'cwd' | 'home' | 'routed'>,
): Promise<SessionFolder> {
  const id = randomBytes(9).toString('base64url');
  const own = join(root, agent, id);
  const files = Object.entries(routed?.files ?? {});
  const hasHome = home === 'session' || files.length > 0;
  const work = cwd === 'session' ? join(own, 'work') : cwd.path;
  if (cwd === 'session') await mkdir(work, { recursive: true, mode: PRIVATE });
  const homeFolder = hasHome ? join(own, 'home') : null;
  if (homeFolder !== null) {
    await mkdir(homeFolder, { recursive: true, mode: PRIVATE });
    for (const [path, content] of files) await writeHomeFile(homeFolder, path, content);
  }
  const real = await realpath(work).catch(() => {
    throw new GatewayError(
      'connection_unusable',
      `The working directory of the agent "${agent}" does not exist: ${work}`,
    );
  });
  return {
    id,
    work: real,
    home: homeFolder,
    remove: () => rm(own, { recursive: true, force: true, maxRetries: 3 }),
  };
}

async function writeHomeFile(home: string, path: string, content: string): Promise<void> {
  const target = join(home, path);
  const way = relative(home, target);
  if (isAbsolute(path) || way.startsWith('..'))
    throw new Error(`a file of an agent leads out of its home: ${path}`);
  await mkdir(dirname(target), { recursive: true, mode: PRIVATE });
  await writeFile(target, content, { mode: 0o600 });
}
