import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type RunningGateway, startGateway } from '../test/support/gateway/gateway.ts';
import { hostileInputs } from './attack-inputs.ts';

/**
 * Lets attacks loose on gateways of its own, on loopback, and exits with 1 when one of them finds something: hostile inputs
 * are sent and what they cost is measured (`attack-inputs.ts`), hydra guesses a password, ffuf looks for what is open,
 * slowhttptest holds connections. Takes a few minutes; `inputs` or `tools` runs one half.
 *
 *     apt-get install hydra ffuf slowhttptest
 *     node scripts/attack.ts [inputs | tools]
 */

const {
  positionals: [half],
} = parseArgs({ allowPositionals: true });
if (half !== undefined && half !== 'inputs' && half !== 'tools')
  throw new Error(`there is no half "${half}": name inputs or tools`);

const password = 'a secret that stands in the list';
const findings: string[] = [];
const scratch = mkdtempSync(join(tmpdir(), 'modelgate-attack-'));

interface ToolOutput {
  output: string;
}

async function tool(name: string, ...args: string[]): Promise<ToolOutput> {
  const child = spawn(name, args, { cwd: scratch, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  child.on('error', () => {
    process.stderr.write(`${name} is not there: apt-get install hydra ffuf slowhttptest\n`);
    process.exit(2);
  });
  await once(child, 'close');
  return { output };
}

function listed(name: string, words: readonly string[]): string {
  const path = join(scratch, name);
  writeFileSync(path, `${words.join('\n')}\n`);
  return path;
}

function told(what: string, found: readonly string[]): void {
  process.stdout.write(`${found.length === 0 ? 'held' : 'FOUND'}  ${what}\n`);
  for (const line of found.slice(0, 10)) process.stdout.write(`       ${line}\n`);
  findings.push(...found);
}

/** A gateway with an admin whose password is known here. */
async function victim(): Promise<RunningGateway> {
  const limits = { headers_timeout_ms: 4000, body_timeout_ms: 6000 };
  const gateway = await startGateway({ config: { limits } });
  const code = readFileSync(join(gateway.dataDir, 'setup.code'), 'utf8').trim();
  const setUp = await fetch(`${gateway.url}/api/setup`, {
    method: 'POST',
    body: JSON.stringify({ code, password }),
  });
  if (setUp.status !== 200) throw new Error(`the admin cannot be made: ${setUp.status}`);
  return gateway;
}

async function guess({ port }: RunningGateway, words: readonly string[]): Promise<string[]> {
  const list = listed('passwords', words);
  const target = ['-s', String(port), '127.0.0.1', 'http-get', '/api/auth'];
  const { output } = await tool('hydra', '-I', '-f', '-t', '8', '-l', 'admin', '-P', list, ...target);
  return output.split('\n').filter((line) => line.includes('login: admin'));
}

/** The right password is in the list, and must not be found in it; alone it must be, or the attempt proves nothing. */
async function guessing(gateway: RunningGateway): Promise<void> {
  if ((await guess(gateway, [password])).length === 0)
    throw new Error('hydra does not find a password it is given');
  const words = Array.from({ length: 200 }, (_, index) =>
    index === 120 ? password : `guess number ${index}`,
  );
  told('hydra: the password of admin in a list of 200', await guess(gateway, words));
}

const files = [
  '.git/config',
  '.git/HEAD',
  '.env',
  '.htpasswd',
  '.npmrc',
  '.DS_Store',
  'package.json',
  'package-lock.json',
  'config.json',
  'setup.code',
  'run.json',
  'storage.key',
  'gateway.db',
  'gateway.sqlite',
  'backup.tar',
  'backup.zip',
  'dump.sql',
  'server.key',
  'src/gateway.ts',
  'dist/gateway.js',
  'dist/gateway.js.map',
  'node_modules',
  'docs',
  'test',
  'robots.txt',
  'server-status',
  'metrics',
  'debug',
  'debug/pprof',
  'actuator',
  'actuator/env',
  'phpinfo.php',
  'wp-login.php',
  'admin',
  'login',
  'console',
  'graphql',
  'swagger.json',
  'swagger-ui',
  'openapi.json',
  'redoc',
  '..%2f..%2fetc%2fpasswd',
  '%2e%2e/%2e%2e/etc/passwd',
  '..;/admin',
  '%00',
  'audit',
  'logs',
];
const names = [
  '',
  'auth',
  'users',
  'users/1',
  'users/admin',
  'tokens',
  'keys',
  'services',
  'services/management',
  'services/store',
  'connections',
  'providers',
  'models',
  'requests',
  'usage',
  'settings',
  'audit',
  'backups',
  'tasks',
  'live',
  'openapi.json',
  'docs',
  'cli-tools',
  'cli-tools/all-statuses',
  'internal',
  'private',
  'debug',
  'health',
  'status',
  'version',
  'config',
  'env',
  'secrets',
  'shutdown',
  'restart',
  'export',
  'import',
  'reset',
  'admin',
  'login',
  'logout',
  'session',
  'me',
  'whoami',
  'v1',
  'v2',
  'v1.0.0',
  'v1.0.0/users',
  'ping/../users',
  'ping/%2e%2e/users',
  'ping%2f..%2fusers',
  'PING',
  'setup/x',
];
/** What is meant to answer anybody. */
const open = /^(api\/ping|api\/hello|healthz|readyz)$/;

/** Everything that answers a stranger with something else than a refusal. */
async function strangers({ url }: RunningGateway): Promise<void> {
  const words = listed('paths', [
    ...files,
    ...names.map((name) => `api/${name}`),
    ...files.map((file) => `api/${file}`),
  ]);
  for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
    const out = join(scratch, `ffuf-${method}.json`);
    await tool(
      'ffuf',
      '-s',
      '-t',
      '8',
      '-X',
      method,
      '-w',
      words,
      '-u',
      `${url}/FUZZ`,
      '-mc',
      'all',
      '-of',
      'json',
      '-o',
      out,
    );
    const { results } = JSON.parse(readFileSync(out, 'utf8')) as {
      results: { input: { FUZZ: string }; status: number }[];
    };
    if (results.length < names.length) throw new Error(`ffuf asked for ${results.length} paths only`);
    const found = results.filter(
      ({ input, status }) => (status < 400 || status >= 500) && !open.test(input.FUZZ),
    );
    told(
      `ffuf: ${results.length} paths with ${method} and no credentials`,
      found.map(({ input, status }) => `${input.FUZZ} → ${status}`),
    );
  }
}

function sockets(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

/** Slow connections must neither keep others waiting nor stay. */
async function slowness(gateway: RunningGateway): Promise<void> {
  const attacks = {
    headers: ['-H'],
    bodies: ['-B', '-s', '8192'],
    reading: ['-X', '-w', '10', '-y', '20', '-n', '5', '-z', '8'],
  };
  for (const [name, flags] of Object.entries(attacks)) {
    // A body is read from strangers at one path alone.
    const url = `${gateway.url}/api/${name === 'bodies' ? 'setup' : 'auth'}`;
    const before = sockets(gateway.pid);
    let running = true;
    const attack = tool(
      'slowhttptest',
      ...flags,
      '-c',
      '300',
      '-r',
      '150',
      '-i',
      '2',
      '-l',
      '10',
      '-p',
      '2',
      '-x',
      '10',
      '-u',
      url,
    ).finally(() => {
      running = false;
    });
    const found: string[] = [];
    let most = 0;
    while (running) {
      const began = performance.now();
      const reply = await fetch(`${gateway.url}/api/ping`, { signal: AbortSignal.timeout(5000) }).catch(
        () => null,
      );
      const took = performance.now() - began;
      if (reply?.status !== 200 || took > 1000)
        found.push(`ping took ${took.toFixed(0)} ms: ${reply?.status}`);
      most = Math.max(most, sockets(gateway.pid));
      await delay(100);
    }
    await attack;
    if (most < before + 50) found.push(`only ${most} connections were open: the attack did not take place`);
    await delay(7000);
    const left = sockets(gateway.pid) - before;
    if (left > 10) found.push(`${left} connections are still open`);
    told(`slowhttptest: slow ${name}, ${most} connections at most`, found);
  }
}

async function tools(): Promise<void> {
  const gateway = await victim();
  try {
    await guessing(gateway);
    await strangers(gateway);
    await slowness(gateway);
  } finally {
    await gateway.stop();
  }
}

try {
  if (half !== 'tools') await hostileInputs(told);
  if (half !== 'inputs') await tools();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exitCode = findings.length === 0 ? 0 : 1;
