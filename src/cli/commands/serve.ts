import { keyStore } from '../../access/store.ts';
import { readVariable } from '../../config.ts';
import { createGateway, type Gateway } from '../../gateway.ts';
import { createLineBuffer } from '../../lib/line-buffer.ts';
import { createLog } from '../../lib/log.ts';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { openBrowser } from '../terminal/open-browser.ts';
import { version } from '../version.ts';

export const serveCommand: Command = {
  arguments: [],
  flags: [
    { name: 'host', value: 'ADDRESS', summary: 'address to listen on (env GATEWAY_HOST, default 127.0.0.1)' },
    { name: 'mcp', summary: 'run as MCP server over stdio instead, as `gateway mcp serve` does' },
  ],
  needs: 'nothing',
  about:
    'On its first start on a terminal it opens the dashboard in the browser. Runs until SIGTERM or SIGINT; open requests may then finish, and a second signal ends them at once.',
  examples: [
    { command: 'gateway', does: 'start on http://127.0.0.1:20128' },
    { command: 'gateway serve --port 0', does: 'start on a free port, which the last line printed names' },
  ],
  run: async (options, context) => {
    if (options.on('mcp')) {
      const { serveMcp } = await import('./mcp/serve.ts');
      return serveMcp(context, { readOnly: false });
    }
    const config = await context.config();
    const { io } = context;
    let gateway: Gateway | null = null;
    const logTo = (write: (line: string) => void) =>
      createLog({
        level: config.logLevel,
        write,
        pretty: io.interactive,
        tee: (line) => gateway?.logged(line),
      });
    const requestLines = createLineBuffer(io.note);
    const log = logTo((line) => {
      // What was logged first stands first.
      requestLines.flush();
      io.note(line);
    });
    // Listened for from the start: who waits for the ready line may stop the gateway in the same moment.
    const signalled = nextSignal();
    gateway = createGateway({
      config,
      log,
      accessLog: config.accessLog ? logTo(requestLines.write) : null,
      version: version(),
    });
    const { url, host, port, setupCode } = await gateway.start();
    await greet(context, url, setupCode);
    io.record(
      { listening: true, url, host, port, pid: process.pid },
      () => `Modelgate ${version()} listening on ${url}`,
    );
    // A first start, by a person who sits in front of it.
    if (setupCode !== null && io.interactive && !options.on('no-open'))
      openBrowser(`${url}/dashboard`, {
        platform: process.platform,
        variable: readVariable,
        onFailure: () => io.note(`No browser could be opened: open ${url}/dashboard yourself`),
      });
    const signal = await signalled;
    log.info({ signal, drain_ms: config.drainMs }, 'stopping: open requests may finish');
    void nextSignal().then(() => process.exit(1));
    await gateway.stop();
    log.info('stopped');
    return 0;
  },
};

/** What a newcomer does next, said only while there is nobody who could use the gateway. */
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
  if (store !== null && (await keyStore(store).list()).length > 0) return;
  io.record({}, () => `First steps: \`gateway keys add NAME\`, then point a tool at ${url} (or ${url}/v1)`);
}

function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const done = (signal: NodeJS.Signals) => {
      process.off('SIGTERM', done);
      process.off('SIGINT', done);
      resolve(signal);
    };
    process.on('SIGTERM', done);
    process.on('SIGINT', done);
  });
}
