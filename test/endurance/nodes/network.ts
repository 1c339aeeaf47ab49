import type { PrivateBroker } from '../../support/brokers/server-process.ts';
import { delayedPort } from '../../support/upstream/delayed-port.ts';

/** How one gateway reaches the servers: each through a port of its own, on which nothing may pass. */
export interface Network {
  address(server: PrivateBroker): string;
  /** What is sent on open connections is lost, nobody is told, and new ones are refused. */
  part(): void;
  join(): void;
  close(): Promise<void>;
}

export async function openNetwork(servers: readonly PrivateBroker[]): Promise<Network> {
  const ports = new Map(
    await Promise.all(servers.map(async (server) => [server, await delayedPort(() => server.port)] as const)),
  );
  return {
    address: (server) => server.url.replace(`:${server.port}`, `:${ports.get(server)?.port}`),
    part() {
      for (const port of ports.values()) {
        port.silence();
        port.refuses = true;
      }
    },
    join() {
      for (const port of ports.values()) port.refuses = false;
    },
    async close() {
      await Promise.all([...ports.values()].map((port) => port.close()));
    },
  };
}
