import { mkdirSync } from 'node:fs';
import { accepts, freePort, installed, type PrivateBroker, startBroker } from './server-process.ts';

export const hasRedis = installed('redis-server');

/** A Redis server with an append-only file and a port of its own. @param folder keeps its data */
export async function startRedis(folder: string): Promise<PrivateBroker> {
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes'];
  return startBroker(`redis://127.0.0.1:${port}`, port, {
    command: 'redis-server',
    args: [...args, '--save', ''],
    ready: () => accepts(port),
  });
}
