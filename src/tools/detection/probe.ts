import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Machine } from '../machine.ts';
import type { Binary } from './binary.ts';

/** What a program answered to `--version`. */
export type ProbeResult = { ok: true; version: string } | { ok: false; reason: string };

/** How a program is asked for its version. */
export interface VersionQuestion {
  args: readonly string[];
  /** Its first group, or all of it, is the version; the first version number when absent. */
  pattern?: RegExp;
}

const usualQuestion: VersionQuestion = { args: ['--version'] };

/** More than this a program does not say about its version. */
const MOST_CHARACTERS = 16_384;
/** How long the last words of a program that has ended may take to arrive. */
const CLOSING_MS = 200;
/** Variables that a program needs to start. None of them holds a secret. */
const passed = [
  'PATH',
  'PATHEXT',
  'SystemRoot',
  'ComSpec',
  'NVM_DIR',
  'FNM_DIR',
  'VOLTA_HOME',
  'ASDF_DATA_DIR',
  'MISE_DATA_DIR',
];

/**
 * Runs a program with `--version` or what else it answers with its version, without the user's environment, in an empty folder that is its home as well, so
 * that it touches no settings, caches or logins. Its process group is ended with it.
 * @param timeoutMs after which it has failed
 */
export async function probeVersion(
  binary: Binary,
  machine: Machine,
  timeoutMs: number,
  question: VersionQuestion = usualQuestion,
): Promise<ProbeResult> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-probe-'));
  try {
    return await runVersion(binary, machine, folder, timeoutMs, question);
  } finally {
    // What it started may still be writing.
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
  }
}

function runVersion(
  binary: Binary,
  machine: Machine,
  folder: string,
  timeoutMs: number,
  { args: versionArgs, pattern }: VersionQuestion,
): Promise<ProbeResult> {
  const words = versionArgs.join(' ');
  const windows = machine.platform === 'win32';
  // Files of cmd.exe are not programs of their own.
  const script = windows && /\.(cmd|bat)$/i.test(binary.path);
  const [file, args] = script
    ? [machine.variables['ComSpec'] ?? 'cmd.exe', ['/d', '/s', '/c', `""${binary.path}" ${words}"`]]
    : [binary.path, [...versionArgs]];
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      cwd: folder,
      env: probeEnvironment(binary, machine, folder),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: !windows,
      windowsHide: true,
      windowsVerbatimArguments: script,
    });
    let text = '';
    const take = (piece: string) => {
      if (text.length < MOST_CHARACTERS) text += piece;
    };
    child.stdout.setEncoding('utf8').on('data', take);
    child.stderr.setEncoding('utf8').on('data', take);
    const finish = (result: ProbeResult) => {
      clearTimeout(timer);
      endGroup(child.pid, windows);
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
      resolve(result);
    };
    const seconds = Math.ceil(timeoutMs / 1000);
    const timer = setTimeout(
      () => finish({ ok: false, reason: `it did not answer ${words} within ${seconds} seconds` }),
      timeoutMs,
    );
    child.once('error', (error: NodeJS.ErrnoException) =>
      finish({ ok: false, reason: `it cannot be started (${error.code ?? 'unknown error'})` }),
    );
    // A program may leave a child behind that holds the pipes open: then `close` comes when its group is ended.
    child.once('exit', () => {
      setTimeout(() => endGroup(child.pid, windows), CLOSING_MS).unref();
    });
    child.once('close', (code, signal) => finish(outcome(code, signal, text, words, pattern)));
  });
}

function outcome(
  code: number | null,
  signal: NodeJS.Signals | null,
  text: string,
  words: string,
  pattern: RegExp | undefined,
): ProbeResult {
  if (code !== 0) return { ok: false, reason: `${words} ended with ${signal ?? `exit code ${code}`}` };
  const version = versionIn(text, pattern);
  return version === null ? { ok: false, reason: `${words} named no version` } : { ok: true, version };
}

/**
 * The first version number of a text: `2.1.329 (Claude Code)`, `codex-cli 0.169.0`.
 * @param pattern what the version is instead: its first group, or all of it
 */
export function versionIn(text: string, pattern?: RegExp): string | null {
  const match = pattern?.exec(text);
  if (pattern !== undefined) return match?.[1] ?? match?.[0] ?? null;
  return /(?:^|[^\w.])v?(\d+\.\d+(?:\.\d+)*(?:-[0-9A-Za-z.]+)?)/.exec(text)?.[1]?.replace(/\.$/, '') ?? null;
}

function probeEnvironment(binary: Binary, machine: Machine, folder: string): Record<string, string> {
  const home = binary.shim ? machine.home : folder;
  const variables = passed.flatMap((name) => {
    const value = machine.variables[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const temporary = { TMPDIR: folder, TMP: folder, TEMP: folder };
  const own = { HOME: home, USERPROFILE: home, APPDATA: folder, LOCALAPPDATA: folder };
  return { ...Object.fromEntries(variables), ...temporary, ...own, CI: '1', NO_COLOR: '1' };
}

function endGroup(pid: number | undefined, windows: boolean): void {
  if (pid === undefined) return;
  try {
    process.kill(windows ? pid : -pid, 'SIGKILL');
  } catch {
    // The whole group is gone.
  }
}
