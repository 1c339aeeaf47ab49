import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const node = process.execPath;
const ticksPerSecond = 100;

/** A process that the bench started. */
export interface Subject {
  port: number;
  process: ChildProcess;
  /** Milliseconds from exec to the line that says it listens. */
  readyMs: number;
  /** CPU time, user and system, of the process and its children, in microseconds. */
  cpu(): Promise<number>;
  /** Resident memory of the process and its children, in bytes. */
  rss(): Promise<number>;
  stop(): Promise<void>;
}

export interface SubjectOptions {
  name: string;
  /** Script and its arguments, after any flags of Node. */
  args: readonly string[];
  core: number;
  env?: Readonly<Record<string, string>>;
  /** How long it may take to start; default 30 s. */
  patienceMs?: number;
}

/** Whether `taskset` exists, so that the measured process has a core apart from mock and load. */
export function canPin(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    execFileSync('taskset', ['-c', '0,1', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const hasProc = process.platform === 'linux';

/** Starts a Node script and waits, at most `patienceMs`, for its line `listening on http://…:PORT`. */
export async function startSubject(
  { name, args, core, env = {}, patienceMs = 30_000 }: SubjectOptions,
  pin: boolean,
): Promise<Subject> {
  const began = performance.now();
  const probe = hasProc ? [] : ['--import', new URL('./probe.ts', import.meta.url).href];
  const command = [node, ...probe, ...args];
  const pinned = pin ? ['taskset', '-c', String(core), ...command] : command;
  const child = spawn(pinned[0] ?? node, pinned.slice(1), {
    cwd: root,
    env: { ...inherited(), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const port = await readyPort(child, name, patienceMs);
  const readyMs = performance.now() - began;
  const pid = child.pid ?? 0;
  return {
    port,
    process: child,
    readyMs,
    cpu: async () => (hasProc ? sum(processTree(pid), cpuOf) : (await askProbe(child)).cpu),
    rss: async () => (hasProc ? sum(processTree(pid), rssOf) : (await askProbe(child)).rss),
    stop: () => stop(child),
  };
}

/** Only what a process needs to start: nothing of the caller's own settings or keys. */
function inherited(): Record<string, string> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'SystemRoot', 'NODE_COMPILE_CACHE'];
  return Object.fromEntries(kept.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
}

function readyPort(child: ChildProcess, name: string, patienceMs: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let output = '';
  const timer = setTimeout(() => fail(`did not start within ${patienceMs / 1_000} s`), patienceMs);
  function fail(what: string): void {
    clearTimeout(timer);
    child.kill('SIGKILL');
    reject(new Error(`${name} ${what}\n${output}`));
  }
  function look(bytes: Buffer): void {
    if (output.length < 20_000) output += bytes.toString();
    const port = /listening on (?:ipc|http:\/\/[^\s]*?:(\d+))/.exec(output);
    if (port === null) return;
    clearTimeout(timer);
    child.stdout?.off('data', look).resume();
    resolve(Number(port[1] ?? 0));
  }
  child.stdout?.on('data', look);
  child.stderr?.on('data', (bytes: Buffer) => {
    if (output.length < 20_000) output += bytes.toString();
  });
  child.once('error', (error) => fail(`cannot be started: ${error.message}`));
  child.once('exit', (code, signal) => fail(`ended before it listened (${signal ?? code})`));
  return promise;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await ended;
  clearTimeout(timer);
}

interface ProbeAnswer {
  cpu: number;
  rss: number;
}

function askProbe(child: ChildProcess): Promise<ProbeAnswer> {
  const { promise, resolve } = Promise.withResolvers<ProbeAnswer>();
  child.once('message', (answer) => resolve(answer as ProbeAnswer));
  child.send('bench:usage');
  return promise;
}

function processTree(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) => childrenOf(pid, thread));
  return [pid, ...children.flatMap(processTree)];
}

/** The processes that a thread started; none where it has ended since it was listed. */
export function childrenOf(pid: number, thread: string): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch (error) {
    // The second where it ends between the opening and the reading.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return [];
    throw error;
  }
}

function sum(pids: readonly number[], of: (pid: number) => number): number {
  return pids.reduce((total, pid) => total + of(pid), 0);
}

/** utime and stime, fields 14 and 15 of /proc/PID/stat (proc(5)), counted after the name's closing bracket. */
function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1_000_000) / ticksPerSecond;
}

function rssOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kib ?? 0) * 1_024;
}
