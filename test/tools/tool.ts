import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** The version of each tool that the tests were last seen to pass with, by its package. */
const packages = {
  claude: '@anthropic-ai/claude-code@2.1.329',
  codex: '@openai/codex@0.169.0',
  copilot: '@github/copilot@1.0.102',
  gemini: '@google/gemini-cli@0.61.0',
  qwen: '@qwen-code/qwen-code@0.24.4',
  opencode: 'opencode-ai@1.18.33',
} as const;

export type ToolName = keyof typeof packages;

/** Where a tool is, or why its tests are skipped. */
export interface Found {
  path: string | null;
  /** For `describe` and `it`: a message when the tool is not there, else false. */
  skip: string | false;
}

/** Looks in `MODELGATE_TOOLS`, else in `.scratch/tools`, else along PATH. */
export function findTool(name: ToolName): Found {
  const given = process.env['MODELGATE_TOOLS'];
  const prefix = resolve(given ?? join(root, '.scratch/tools'));
  const folders = [join(prefix, 'node_modules/.bin'), ...(given === undefined ? pathFolders() : [])];
  const path = folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
  const install = `npm install --prefix ${given ?? '.scratch/tools'} ${packages[name]}`;
  return { path, skip: path === null ? `${name} is not installed: ${install}` : false };
}

function pathFolders(): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder.startsWith('/'));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export interface Desk {
  /** Empty, but for what a test puts there. */
  home: string;
  /** Where the tool runs. */
  work: string;
  remove(): Promise<void>;
}

/** A home and a working folder, which holds `note.txt` with one word in it. */
export async function layDesk(word: string): Promise<Desk> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-tool-'));
  const home = join(folder, 'home');
  const work = join(folder, 'work');
  await mkdir(home);
  await mkdir(work);
  await writeFile(join(work, 'note.txt'), `${word}\n`);
  // Retried: what a tool started may still be writing its last words.
  return { home, work, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

export interface Run {
  /** The program as found. */
  tool: Found;
  args: readonly string[];
  desk: Desk;
  env?: Readonly<Record<string, string>>;
  /** Milliseconds until it is ended. */
  limit?: number;
}

export interface Ran {
  /** Null when it was ended at the limit. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs a tool without a terminal and with closed stdin. It gets nothing of this process's environment but PATH, and
 * its process group is ended with it, since some tools leave children behind.
 */
export async function runTool({ tool, args, desk, env = {}, limit = 90_000 }: Run): Promise<Ran> {
  if (tool.path === null) throw new Error(tool.skip || 'the tool is not there');
  const child = spawn(tool.path, args, {
    cwd: desk.work,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: desk.home,
      TMPDIR: desk.home,
      CLAUDE_CODE_TMPDIR: desk.home,
      CI: '1',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const endGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The whole group is gone.
    }
  };
  process.once('exit', endGroup);
  const timer = setTimeout(endGroup, limit);
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (part: string) => {
      text[name] += part;
    });
  }
  try {
    // Children that are left behind hold the pipes open, so `close` comes only after the group has been ended.
    const closed = once(child, 'close');
    const [code] = (await once(child, 'exit')) as [number | null];
    endGroup();
    await closed;
    return { code, ...text };
  } finally {
    clearTimeout(timer);
    process.off('exit', endGroup);
  }
}
