import {
  accepts,
  freePort,
  installed,
  type PrivateBroker,
  type ServerProcess,
  startServer,
} from './server-process.ts';

export const hasNats = installed('nats-server');

/** A NATS server with JetStream and a port of its own. @param folder keeps its data */
export async function startNats(folder: string): Promise<PrivateBroker> {
  const port = await freePort();
  const args = ['--addr', '127.0.0.1', '--port', String(port), '--jetstream', '--store_dir', folder];
  const startNode = () => startServer({ command: 'nats-server', args, ready: () => accepts(port) });
  let node: ServerProcess = await startNode();
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    pause: () => node.pause(),
    resume: () => node.resume(),
    kill: () => node.kill(),
    async start() {
      node = await startNode();
    },
  };
}
