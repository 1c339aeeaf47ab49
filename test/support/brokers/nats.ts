import { accepts, freePort, installed, type PrivateBroker, startBroker } from './server-process.ts';

export const hasNats = installed('nats-server');

/** A NATS server with JetStream and a port of its own. @param folder keeps its data */
export async function startNats(folder: string): Promise<PrivateBroker> {
  const port = await freePort();
  const args = ['--addr', '127.0.0.1', '--port', String(port), '--jetstream', '--store_dir', folder];
  const ready = () => accepts(port);
  return startBroker(`nats://127.0.0.1:${port}`, port, { command: 'nats-server', args, ready });
}
