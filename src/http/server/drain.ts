import type { Server } from 'node:http';
import type { ServerSink } from '../response-sink.ts';

export interface Drain {
  started(): boolean;
  /** Called whenever an exchange has ended. */
  advance(): void;
  start(server: Server, ms: number): Promise<void>;
}

/** Waits until `open` has nothing left; `advance` must be called whenever something left. */
export function createDrain(open: {
  size(): number;
  members(): { response: ServerSink }[];
  closeIdle(): void;
}): Drain {
  let drained: Promise<void> | null = null;
  let advance = () => {};
  const start = (server: Server, ms: number): Promise<void> =>
    new Promise((resolve) => {
      server.close();
      for (const { response } of open.members()) {
        if (!response.headersSent) response.shouldKeepAlive = false;
      }
      const timer = setTimeout(resolve, ms);
      advance = () => {
        // A connection whose answer began before the drain is idle only after this event.
        setImmediate(() => open.closeIdle());
        if (open.size() > 0) return;
        clearTimeout(timer);
        resolve();
      };
      advance();
    });
  return {
    started: () => drained !== null,
    advance: () => advance(),
    start(server, ms) {
      drained ??= start(server, ms);
      return drained;
    },
  };
}
