import { setTimeout as delay } from 'node:timers/promises';
import { readRunFile } from '../../run-file.ts';
import type { Command } from '../command.ts';
import { failure } from '../terminal/failure.ts';

/** How much longer than its drain time a gateway may take to close its files. */
const CLOSING_MS = 35_000;
const POLL_MS = 50;
/** What the gateway gives open requests where its settings cannot be read. */
const DEFAULT_DRAIN_MS = 30_000;

export const stopCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'server',
  about: 'Open requests may finish first, as after SIGTERM. Returns when the process has ended.',
  examples: [{ command: 'gateway stop && gateway serve', does: 'restart it' }],
  run: async (_, context) => {
    const { io } = context;
    const dataDir = await context.dataDir();
    const config = await context.config().catch(() => null);
    const drainMs = config === null ? DEFAULT_DRAIN_MS : config.drainDelayMs + config.drainMs;
    const { pid, url } = await context.gateway();
    if (!sent(pid, 'SIGTERM'))
      throw failure(1, 'not_permitted', `The gateway at ${url} (pid ${pid}) belongs to another user.`);
    io.note('Stopping: open requests may finish.');
    const until = performance.now() + drainMs + CLOSING_MS;
    while (sent(pid, 0) && readRunFile(dataDir)?.pid === pid) {
      if (performance.now() > until)
        throw failure(
          1,
          'timeout',
          `The gateway (pid ${pid}) still runs: \`kill -9 ${pid}\` ends it at once.`,
        );
      await delay(POLL_MS);
    }
    io.result({ stopped: true, pid, url }, () => `Stopped the gateway at ${url}.`);
    return 0;
  },
};

/** False when there is no such process, or it belongs to another user. */
function sent(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
