import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../config.ts';
import type { HttpServer } from '../http/server/server.ts';
import type { WebSockets } from '../http/server/websocket.ts';
import { GatewayError } from '../lib/error.ts';
import type { Management } from '../management/open.ts';
import type { SurfaceContext } from '../proxy/surface.ts';
import type { Workers } from '../workers/open.ts';

/** For the last bytes of interrupted answers to leave. */
const LAST_BYTES_MS = 250;

/** How long requests that are open when the gateway is to stop may take, in milliseconds. */
export function openRequestsMs({ drainDelayMs, drainMs }: Pick<Config, 'drainDelayMs' | 'drainMs'>): number {
  return drainDelayMs + drainMs;
}

export interface OpenRequestsInput {
  config: Pick<Config, 'drainDelayMs' | 'drainMs'>;
  management: Pick<Management, 'endStreams'>;
  server: Pick<HttpServer, 'close' | 'drain'>;
  webSockets: Pick<WebSockets, 'close' | 'drain'>;
  /** Null where this process serves all. */
  workers: Pick<Workers, 'close' | 'drain'> | null;
  watch: SurfaceContext['watch'];
}

/** Accepts nothing more, lets open requests finish within their time, ends those that are left, and closes every connection. */
export async function endOpenRequests(input: OpenRequestsInput): Promise<void> {
  const { config, server, webSockets, workers } = input;
  if (config.drainDelayMs > 0) await delay(config.drainDelayMs);
  input.management.endStreams();
  await Promise.all([
    workers?.drain(config.drainMs),
    server.drain(config.drainMs),
    webSockets.drain(config.drainMs),
  ]);
  await interruptAll(input.watch);
  await webSockets.close();
  await server.close();
  await workers?.close();
}

/** Ends what the drain left over, each with the error of its dialect, and gives the last bytes a moment to leave. */
async function interruptAll(watch: SurfaceContext['watch']): Promise<void> {
  const error = new GatewayError('shutting_down', 'The gateway is shutting down: send the request again', {
    retryAfter: 5,
  });
  const left = watch.members();
  for (const call of left) call.interrupt(error);
  if (left.length > 0) await delay(LAST_BYTES_MS);
}
