import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a stand-in for the program of a tunnel does. */
export interface Scenario {
  /** Printed at once, as the real program prints it. */
  prints: readonly string[];
  /** Where to; default stdout. */
  on?: 'stdout' | 'stderr';
  /** Ends with this code; absent: it stays until it is told to end. */
  exits?: number;
  /** Does not end on SIGTERM. */
  stubborn?: boolean;
}

/** One run of a stand-in. */
export interface Run {
  pid: number;
  args: string[];
  environment: Record<string, string>;
}

const program = `
const { appendFileSync, readFileSync } = require('node:fs');
const { args, pid } = { args: process.argv.slice(2), pid: process.pid };
appendFileSync(__filename + '.runs', JSON.stringify({ pid, args, environment: process.env }) + '\\n');
const scenario = JSON.parse(readFileSync(__filename + '.scenario', 'utf8'));
if (scenario.stubborn) process.on('SIGTERM', () => {});
process[scenario.on ?? 'stdout'].write(scenario.prints.join('\\n') + '\\n');
if (scenario.exits !== undefined) process.exitCode = scenario.exits;
else setInterval(() => {}, 1000);
`;

/** Installs a stand-in for a program in a folder of PATH. */
export function installStandIn(folder: string, name: string) {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  const plays = (scenario: Scenario) => {
    // Whole at once: the program may be started at any moment.
    writeFileSync(`${path}.scenario.new`, JSON.stringify(scenario));
    renameSync(`${path}.scenario.new`, `${path}.scenario`);
  };
  plays({ prints: [] });
  writeFileSync(path, `#!${process.execPath}\n${program}`);
  chmodSync(path, 0o755);
  return {
    path,
    plays,
    /** Every run so far, the oldest first. */
    runs(): Run[] {
      if (!existsSync(`${path}.runs`)) return [];
      const text = readFileSync(`${path}.runs`, 'utf8');
      return text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Run]));
    },
  };
}

/**
 * What the programs print. cloudflared: cmd/cloudflared/tunnel/quick_tunnel.go with LogTable and zerolog's console;
 * tailscale: messageForPort and enableFeatureInteractive in cmd/tailscale/cli; ngrok: `--log-format json` of its agent.
 */
export const printed = {
  cloudflared: (host: string): string[] => [
    '2026-11-22T23:00:00Z INF Thank you for trying Cloudflare Tunnel. Doing so, without a Cloudflare account, is a quick way to experiment and try it out. If you intend to use Tunnels in production you should use a pre-created named tunnel by following: https://developers.cloudflare.com/cloudflare-one/connections/connect-apps',
    '2026-11-22T23:00:00Z INF Requesting new quick Tunnel on trycloudflare.com...',
    '2026-11-22T23:00:02Z INF +--------------------------------------------------------------------------------------------+',
    '2026-11-22T23:00:02Z INF |  Your quick Tunnel has been created! Visit it at (it may take some time to be reachable):  |',
    `2026-11-22T23:00:02Z INF |  ${`https://${host}`.padEnd(88)}  |`,
    '2026-11-22T23:00:02Z INF +--------------------------------------------------------------------------------------------+',
    '2026-11-22T23:00:02Z INF Settings: map[ha-connections:1 protocol:quic url:http://127.0.0.1:20128]',
    '2026-11-22T23:00:03Z INF Registered tunnel connection connIndex=0 connection=5fd4 event=0 ip=198.41.200.13 location=fra08 protocol=quic',
  ],
  cloudflaredFails: [
    '2026-11-22T23:00:00Z INF Requesting new quick Tunnel on trycloudflare.com...',
    '2026-11-22T23:00:15Z ERR failed to request quick Tunnel: Post "https://api.trycloudflare.com/tunnel": dial tcp: lookup api.trycloudflare.com: no such host',
  ],
  tailscale: (host: string): string[] => [
    'Available on the internet:',
    '',
    `https://${host}/`,
    '|-- proxy http://127.0.0.1:20128',
    '',
    'Press Ctrl+C to exit.',
  ],
  tailscaleAsks: [
    '',
    'Funnel is not enabled on your tailnet.',
    'To enable, visit:',
    '',
    '         https://login.tailscale.com/f/funnel?node=nABC123CNTRL',
    '',
  ],
  ngrok: (host: string): string[] => [
    '{"lvl":"info","msg":"no configuration paths supplied","t":"2026-11-22T23:00:00.1Z"}',
    '{"addr":"127.0.0.1:4040","allow_hosts":[],"lvl":"info","msg":"starting web service","obj":"web","t":"2026-11-22T23:00:00.2Z"}',
    '{"id":"e091fe4f2de3","lvl":"info","msg":"client session established","obj":"tunnels.session","t":"2026-11-22T23:00:00.5Z"}',
    '{"lvl":"info","msg":"tunnel session started","obj":"tunnels.session","t":"2026-11-22T23:00:00.5Z"}',
    `{"addr":"http://127.0.0.1:20128","lvl":"info","msg":"started tunnel","name":"command_line","obj":"tunnels","t":"2026-11-22T23:00:00.6Z","url":"https://${host}"}`,
  ],
  ngrokRefuses: [
    '{"err":"authentication failed: The authtoken you specified does not look like a proper ngrok tunnel authtoken.\\nYour authtoken: 2secretTOKEN~\\nInstructions to install your authtoken are on your ngrok dashboard:\\nhttps://dashboard.ngrok.com/get-started/your-authtoken\\r\\n\\r\\nERR_NGROK_105\\r\\n","lvl":"eror","msg":"session closing","obj":"tunnels.session","t":"2026-11-22T23:00:00.5Z"}',
    'ERROR:  authentication failed: The authtoken you specified does not look like a proper ngrok tunnel authtoken.',
    'ERROR:  Your authtoken: 2secretTOKEN~',
    'ERROR:  ERR_NGROK_105',
  ],
};
