import { rmSync } from 'node:fs';
import { listenError } from '../http/server/listen-error.ts';
import { makeFolder } from '../lib/files/folder.ts';
import { readRunFile, writeRunFile } from '../run-file.ts';
import { acquireDataDir } from '../store/lock.ts';
import { type Address, listenWithWorkers } from '../workers/listen.ts';
import { createGatewayServer } from './http-server.ts';
import type { OpenInput } from './open-input.ts';
import { endOpenRequests, openRequestsMs } from './open-requests.ts';
import { openParts } from './parts.ts';

export interface Listening {
  url: string;
  host: string;
  port: number;
  /** Makes the first admin; null once there is one. For the terminal, never for a log. */
  setupCode: string | null;
}

/**
 * Opens a gateway: its data directory, its parts, the HTTP server, the workers, and what tells others where it listens. What is
 * registered with `onClose` is closed in reverse order, so that open requests end while every part still works.
 * @throws GatewayError with what to do about it
 */
export async function openGateway(input: OpenInput): Promise<Listening> {
  const { config, log, onClose, version } = input;
  makeFolder(config.dataDir);
  const lock = await acquireDataDir(config.dataDir, () => readRunFile(config.dataDir));
  onClose('data directory', () => lock.release());
  let address: Address | null = null;
  let draining = false;
  const parts = await openParts(input, {
    listening: () => address,
    openRequests: () => server.inFlight(),
  });
  const { access, context, metrics, setupCode, tunnels } = parts;
  const { server, webSockets } = createGatewayServer({
    config,
    log,
    access,
    metrics,
    surfaces: { ...parts, isDraining: () => draining },
  });
  onClose('HTTP server', () => server.close());
  const workers = config.workers > 1 ? await parts.startWorkers() : null;
  const { host, port } = await (workers === null
    ? server.listen(config.host, config.port)
    : listenWithWorkers(config, server, workers, (at) => {
        address = at;
      })
  ).catch((error: NodeJS.ErrnoException) => {
    throw listenError(error, config.host, config.port);
  });
  address = { host, port };
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  const runFile = writeRunFile(config.dataDir, {
    pid: process.pid,
    host,
    port,
    url,
    version,
    key: context.owner.key,
    started_at: new Date(context.now()).toISOString(),
  });
  onClose('run file', () => rmSync(runFile, { force: true }));
  onClose(
    'open requests',
    () => {
      draining = true;
      return endOpenRequests({
        config,
        management: parts.management,
        server,
        webSockets,
        workers,
        watch: context.watch,
      });
    },
    openRequestsMs(config),
  );
  await tunnels.resume();
  return { url, host, port, setupCode };
}
