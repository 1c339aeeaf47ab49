/**
 * How long callers wait while another process has locked the database: health probes, requests to demo/echo and
 * three changes of the settings, for as long as the lock is held and two seconds more.
 *   node bench/locked-database.ts [--seconds N] [--main PATH]    PATH: src/cli/main.ts of the version to measure
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { root, startSubject } from './subject.ts';

const { values: flags } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, main: { type: 'string' } },
});
const lockedMs = Number(flags.seconds) * 1000;
const EVERY_MS = 20;

interface Call {
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

interface Result {
  /** Milliseconds until the whole answer was there. */
  ms: number;
  /** Null where the connection broke. */
  status: number | null;
}

async function timed(port: number, { path, method = 'GET', headers = {}, body }: Call): Promise<Result> {
  const began = performance.now();
  let status: number | null = null;
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
    status = response.status;
  } catch {
    // A connection that was closed over the wait.
  }
  return { ms: performance.now() - began, status };
}

function report(name: string, results: readonly Result[]): void {
  const times = results.map(({ ms }) => ms).sort((a, b) => a - b);
  const statuses = [...new Set(results.map(({ status }) => status ?? 'broken'))].join();
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  process.stdout.write(
    `${name.padEnd(20)} ${times.length} calls, status ${statuses}: median ${at(0.5).toFixed(1)} ms, slowest ${at(1).toFixed(1)} ms\n`,
  );
}

const dataDir = mkdtempSync(join(tmpdir(), 'modelgate-bench-'));
const main = flags.main ?? join(root, 'src/cli/main.ts');
const subject = await startSubject(
  { name: 'gateway', args: [main, 'serve', '--port', '0'], core: 0, env: { DATA_DIR: dataDir } },
  false,
);
try {
  const { key } = JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')) as { key: string };
  const chat: Call = {
    path: '/v1/chat/completions',
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: { model: 'demo/echo', messages: [{ role: 'user', content: 'hello' }] },
  };
  const change = (name: string): Call => ({
    path: '/api/keys',
    method: 'POST',
    headers: { 'x-auth-token': key },
    body: { name },
  });
  await timed(subject.port, chat);
  // This process holds the lock; the gateway is another one.
  const other = new DatabaseSync(join(dataDir, 'modelgate.db'));
  other.exec('begin exclusive');
  const until = performance.now() + lockedMs;
  const changes = Promise.all(['one', 'two', 'three'].map((name) => timed(subject.port, change(name))));
  const open: Promise<void>[] = [];
  const [probes, answers]: [Result[], Result[]] = [[], []];
  let locked = true;
  while (performance.now() < until + 2000) {
    if (locked && performance.now() >= until) {
      other.exec('rollback');
      locked = false;
    }
    open.push(timed(subject.port, { path: '/healthz' }).then((result) => void probes.push(result)));
    open.push(timed(subject.port, chat).then((result) => void answers.push(result)));
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  await Promise.all(open);
  other.close();
  report('GET /healthz', probes);
  report('demo/echo', answers);
  report('POST /api/keys', await changes);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const written = new DatabaseSync(join(dataDir, 'modelgate.db'), { readOnly: true });
  const rows = written.prepare('select count(*) as n from requests').get();
  written.close();
  process.stdout.write(`ledger: ${String(rows?.['n'])} rows of ${answers.length + 1} requests\n`);
} finally {
  await subject.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
