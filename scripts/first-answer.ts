/**
 * Measures how long a newcomer waits for a first answer, as the README tells them to get it: `git clone`, `npm install`,
 * `npm start`, a key, and a request to the demo model. Each run has a new clone and an empty HOME.
 *   node scripts/first-answer.ts [--runs 5] [--warm]
 *
 * Prints the median, the fastest and the slowest of each step in seconds. npm's cache is empty in each run, unless `--warm`
 * shares one between them, which the first run fills. What is not committed is not in a clone.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: { runs: { type: 'string', default: '5' }, warm: { type: 'boolean', default: false } },
});
const runs = Number(values.runs);
if (!Number.isInteger(runs) || runs < 1) throw new Error('--runs is a number from 1 up');

/** Seconds of each step of one run. */
type Times = Record<'git clone' | 'npm install' | 'npm start' | 'key and answer' | 'all', number>;

const folder = await mkdtemp(join(tmpdir(), 'modelgate-first-answer-'));
const times: Times[] = [];
try {
  for (let index = 0; index < runs; index++) {
    const measured = await measure(join(folder, String(index)));
    times.push(measured);
    console.error(`run ${index + 1} of ${runs}: ${measured.all.toFixed(1)} s`);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

console.log('| step | median | fastest | slowest |\n|---|---|---|---|');
for (const step of Object.keys(times[0] ?? {}) as (keyof Times)[]) {
  const sorted = times.map((one) => one[step]).sort((a, b) => a - b);
  const cells = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[0], sorted.at(-1)];
  console.log(`| ${step} | ${cells.map((seconds) => `${(seconds ?? 0).toFixed(1)} s`).join(' | ')} |`);
}

async function measure(home: string): Promise<Times> {
  await mkdir(home);
  const clone = join(home, 'modelgate');
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    GATEWAY_PORT: '0',
    npm_config_cache: join(values.warm ? folder : home, '.npm'),
    // Where packages come from is the machine's matter.
    npm_config_userconfig: join(homedir(), '.npmrc'),
  };
  const begun = performance.now();
  let last = begun;
  const lap = () => {
    const now = performance.now();
    const seconds = (now - last) / 1000;
    last = now;
    return seconds;
  };
  await run('git', ['clone', '--quiet', '--no-local', '--depth', '1', `file://${root}`, clone], { env });
  const cloned = lap();
  await run('npm', ['install'], { cwd: clone, env, maxBuffer: 16 * 1024 * 1024 });
  const installed = lap();
  const server = spawn('npm', ['start'], {
    cwd: clone,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(server, 'close');
  try {
    const url = await readyUrl(server.stdout, closed);
    const started = lap();
    const { stdout } = await run(join(clone, 'bin', 'gateway'), ['keys', 'add', 'laptop'], { env });
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' },
      body: '{"model": "demo/echo", "messages": [{"role": "user", "content": "good morning"}]}',
    });
    const answer = await response.text();
    if (!answer.includes('You said: good morning')) throw new Error(`no first answer: ${answer}`);
    return {
      'git clone': cloned,
      'npm install': installed,
      'npm start': started,
      'key and answer': lap(),
      all: (last - begun) / 1000,
    };
  } finally {
    process.kill(-(server.pid ?? 0), 'SIGTERM');
    await closed;
  }
}

/** The address in the line that says that the gateway listens. */
async function readyUrl(stdout: NodeJS.ReadableStream, closed: Promise<unknown>): Promise<string> {
  let text = '';
  const ready = new Promise<string>((resolve) => {
    stdout.on('data', (piece: Buffer) => {
      text += piece.toString();
      const url = /listening on (http:\S+)/.exec(text)?.[1];
      if (url !== undefined) resolve(url);
    });
  });
  const ended = closed.then(() => {
    throw new Error(`npm start ended before the gateway listened: ${text}`);
  });
  return Promise.race([ready, ended]);
}
