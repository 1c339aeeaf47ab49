import { hash } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HttpServer } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import type { Workers } from './open.ts';

export interface Address {
  host: string;
  port: number;
}

/** What a path of a Unix socket may have at most (unix(7): 108 bytes with the null; macOS has 104). */
const MAX_PATH_BYTES = 103;

/** Where the workers of a data directory reach their owner. */
export function socketPathIn(dataDir: string): string {
  const path = join(dataDir, 'workers.sock');
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return path;
  // A folder that only this user can look into; the name is the same after a crash, so that nothing piles up.
  return join(tmpdir(), `modelgate-${hash('sha256', dataDir, 'hex').slice(0, 16)}`, 'workers.sock');
}

/**
 * Has the workers listen for clients, and the server of this process for what the workers pass on.
 * @param onAddress called with the address as soon as it is known, before the first request
 * @throws the system's error when the address cannot be listened on; GatewayError as `makeOwnFolder` does
 */
export async function listenWithWorkers(
  { dataDir, host, port }: Address & { dataDir: string },
  server: Pick<HttpServer, 'listenForProxies'>,
  workers: Pick<Workers, 'listen'>,
  onAddress: (address: Address) => void,
): Promise<Address> {
  const path = socketPathIn(dataDir);
  const folder = dirname(path);
  if (folder !== dataDir) makeOwnFolder(folder);
  // Of a gateway that was killed: the data directory is this one's now.
  rmSync(path, { force: true });
  await server.listenForProxies(path);
  const address = { host, port: port === 0 ? await freePort(host) : port };
  onAddress(address);
  await workers.listen(address.port);
  return address;
}

/**
 * Makes a folder that only this user can look into, or takes the one of an earlier gateway. Among temporary files somebody else may
 * have made it, who could then put a socket of his own in the place of the owner's.
 * @throws GatewayError where it is not this user's alone
 */
export function makeOwnFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = lstatSync(folder);
  const isOwn = found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  if (!isOwn)
    throw new GatewayError(
      'invalid_request',
      `${folder} is not a folder that only your user may open: remove it, or choose a data directory with a shorter path`,
      { param: 'data_dir' },
    );
}

/** A port for all workers, also for those that are started again: each port 0 would be another one. */
function freePort(host: string): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host.replace(/^\[(.*)\]$/, '$1'), () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
