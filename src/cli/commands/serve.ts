import { keyStore } from '../../access/store.ts';
import { type Config, readVariable } from '../../config.ts';
import type { Listening } from '../../gateway/open.ts';
import { createGateway, type Gateway } from '../../gateway.ts';
import { createLineLog, createLog } from '../../lib/log.ts';
import { createLineBuffer } from '../../lib/streams/line-buffer.ts';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { ownCommand } from '../own-command.ts';
import { openBrowser } from '../terminal/open-browser.ts';
import { fetchUpdate, updateSentence } from '../update-check.ts';
import { version } from '../version.ts';

export const serveCommand: Command = {
  arguments: [],
  flags: [
    { name: 'host', value: 'ADDRESS', summary: 'address to listen on (env GATEWAY_HOST, default 127.0.0.1)' },
    {
      name: 'workers',
      value: 'N|auto',
      summary:
        'processes that serve the model endpoints (env GATEWAY_WORKERS, default 1); auto: one for each core',
    },
    { name: 'mcp', summary: 'run as MCP server over stdio instead, as `gateway mcp serve` does' },
  ],
  needs: 'nothing',
  about:
    'On its first start on a terminal it opens the dashboard in the browser. Runs until SIGTERM or SIGINT; open requests may then finish, and a second signal ends them at once.',
  examples: [
    { command: 'gateway', does: 'start on http://127.0.0.1:20128' },
    { command: 'gateway serve --workers auto', does: 'use all cores for the model endpoints' },
    { command: 'gateway serve --port 0', does: 'start on a free port, which the last line printed names' },
  ],
  run: async (options, context) => {
    if (options.on('mcp')) {
      const { serveMcp } = await import('./mcp/serve.ts');
      return serveMcp(context, { readOnly: false });
    }
    const { io } = context;
    const first = await context.config();
    let config = first;
    let announced = false;
    for (;;) {
      const { how, port } = await served(config, context, async ({ setupCode, ...listening }) => {
        const { url } = listening;
        if (!announced) await greet(context, url, setupCode);
        io.record(
          { listening: true, ...listening, pid: process.pid },
          () => `Modelgate ${version()} listening on ${url}`,
        );
        // A first start, by a person who sits in front of it.
        if (!announced && setupCode !== null && io.interactive && !options.on('no-open'))
          openBrowser(`${url}/dashboard`, {
            platform: process.platform,
            variable: readVariable,
            onFailure: () => io.note(`No browser could be opened: open ${url}/dashboard yourself`),
          });
        announced = true;
      });
      if (how === 'stop') return 0;
      // Who asked for a restart finds it again at the port that was free at the first start.
      config = { ...(await context.readConfig()), ...(first.port === 0 ? { port } : {}) };
    }
  },
};

/** Runs one gateway until it is stopped. @returns whether another is to be started in its place, and where it listened */
async function served(
  config: Config,
  context: Context,
  onListening: (listening: Listening) => Promise<void>,
): Promise<{ how: 'stop' | 'restart'; port: number }> {
  const { io } = context;
  let gateway: Gateway | null = null;
  const lines = {
    level: config.logLevel,
    pretty: io.interactive,
    tee: (line: string) => gateway?.publishLogLine(line),
  };
  const requestLines = createLineBuffer(io.note);
  const log = createLog({
    ...lines,
    write(line) {
      // What was logged first stands first.
      requestLines.flush();
      io.note(line);
    },
  });
  // Listened for from the start: who waits for the ready line may stop the gateway in the same moment.
  const signalled = nextSignal();
  const starting = new AbortController();
  void signalled.next.then(() => starting.abort());
  const shutdownRequest = Promise.withResolvers<'stop' | 'restart'>();
  gateway = createGateway({
    config,
    log,
    accessLog: config.accessLog ? createLineLog({ ...lines, write: requestLines.write }) : null,
    version: version(),
    signal: starting.signal,
    processControl: {
      leave: shutdownRequest.resolve,
      cli: ownCommand(config, {
        searchPath: (await context.variables(['PATH']))['PATH'] ?? '',
        started: process.argv[1] ?? '',
      }),
      async checkUpdate() {
        const answer = await fetchUpdate(await context.environment());
        const message = updateSentence(answer, version());
        if (answer.kind !== 'known') return { kind: 'unknown', message };
        return { kind: 'known', message, newer: answer.newer, next: answer.next };
      },
    },
  });
  const listening = await gateway.start();
  await onListening(listening);
  const end = await Promise.race([
    signalled.next.then((signal) => ({ how: 'stop' as const, signal })),
    shutdownRequest.promise.then((how) => ({ how, signal: null })),
  ]);
  signalled.ignore();
  const { how, signal } = end;
  const what = how === 'stop' ? 'stopping' : 'starting anew';
  log.info({ signal, drain_ms: config.drainMs }, `${what}: open requests may finish`);
  const again = nextSignal();
  void again.next.then(() => process.exit(1));
  await gateway.stop();
  if (how === 'restart') again.ignore();
  log.info('stopped');
  return { how, port: listening.port };
}

/** What to do next, printed only while nobody could use the gateway yet. */
async function greet(
  { config, existingStore, io }: Context,
  url: string,
  setupCode: string | null,
): Promise<void> {
  const { authRequired, dataDir } = await config();
  if (io.json) return;
  io.record({}, () => `Data directory ${dataDir}`);
  if (!authRequired) io.record({}, () => 'Keys are not required: anyone on this machine may use the gateway');
  if (setupCode !== null)
    io.record(
      {},
      () =>
        `No admin yet: open ${url}/dashboard with the setup code ${setupCode} (valid for an hour), or run \`gateway setup\``,
    );
  const store = await existingStore();
  if (store !== null && (await keyStore(store).counts()).total > 0) return;
  io.record({}, () => `First steps: \`gateway keys add NAME\`, then point a tool at ${url} (or ${url}/v1)`);
}

/** The next signal that ends a process. */
function nextSignal(): { next: Promise<NodeJS.Signals>; ignore(): void } {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const ignore = () => {
    process.off('SIGTERM', done);
    process.off('SIGINT', done);
  };
  const done = (signal: NodeJS.Signals) => {
    ignore();
    resolve(signal);
  };
  process.on('SIGTERM', done);
  process.on('SIGINT', done);
  return { next: promise, ignore };
}
