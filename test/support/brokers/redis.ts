import { mkdirSync } from 'node:fs';
import { accepts, freePort, installed, type PrivateBroker, startBroker } from './server-process.ts';

export const hasRedis = installed('redis-server');

/**
 * A Redis server with an append-only file and a port of its own. It keeps what it has confirmed, unless `settings` say otherwise.
 * @param folder keeps its data
 * @param settings arguments of the server, after which the last of a name counts
 */
export async function startRedis(folder: string, settings: readonly string[] = []): Promise<PrivateBroker> {
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  // By `everysec` it answers before it writes, as long as it syncs what it wrote before.
  const kept = ['--appendonly', 'yes', '--appendfsync', 'always'];
  return startBroker(`redis://127.0.0.1:${port}`, port, {
    command: 'redis-server',
    args: [...args, ...kept, ...settings],
    ready: () => accepts(port),
  });
}
