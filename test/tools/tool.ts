import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');

/** The version of each tool that the tests were last seen to pass with, by its package. */
const packages = {
  claude: '@anthropic-ai/claude-code@2.1.329',
  codex: '@openai/codex@0.169.0',
  copilot: '@github/copilot@1.0.102',
  gemini: '@google/gemini-cli@0.61.0',
  qwen: '@qwen-code/qwen-code@0.24.4',
  opencode: 'opencode-ai@1.18.33',
  cline: 'cline@3.0.65',
  'cline-2': 'cline@2.18.0',
  kilo: '@kilocode/cli@7.7.7',
  cn: '@continuedev/cli@1.5.47',
  droid: 'droid@0.215.0',
  grok: '@xai-official/grok@1.0.41',
  pi: '@earendil-works/pi-coding-agent@0.87.1',
  openclaw: 'openclaw@2026.9.6',
  omp: '@oh-my-pi/pi-coding-agent@18.2.3 bun@1.4.5',
  letta: '@letta-ai/letta-code@0.32.18',
  'claude-agent-acp': '@agentclientprotocol/claude-agent-acp@0.100.0',
  'codex-acp': '@zed-industries/codex-acp@0.16.0',
} as const;

export type ToolName = keyof typeof packages;

/** Programs of former versions, each installed in a folder of its own below the others. */
const former: Partial<Record<ToolName, string>> = { 'cline-2': 'cline' };

/** Where a tool is, or why its tests are skipped. */
export interface Found {
  path: string | null;
  /** For `describe` and `it`: a message when the tool is not there, else false. */
  skip: string | false;
}

/** Looks in `MODELGATE_TOOLS`, else in `.scratch/tools`, else along PATH. */
export function findTool(name: ToolName): Found {
  const given = process.env['MODELGATE_TOOLS'];
  const program = former[name];
  const own = program === undefined ? '' : `/${name}`;
  const prefix = resolve((given ?? join(root, '.scratch/tools')) + own);
  const elsewhere = given === undefined && program === undefined ? pathFolders() : [];
  const folders = [join(prefix, 'node_modules/.bin'), ...elsewhere];
  const path = folders.map((folder) => join(folder, program ?? name)).find(isProgram) ?? null;
  const install = `npm install --prefix ${given ?? '.scratch/tools'}${own} ${packages[name]}`;
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
  const remove = async () => {
    await endDaemons(folder);
    // Retried: what a tool started may still be writing its last words.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { home, work, remove };
}

/** Ends what a tool left behind outside its process group, such as Cline's daemon: its command line names the desk. */
async function endDaemons(folder: string): Promise<void> {
  const ids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const id of ids) {
    const command = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
    if (!command.split('\0').some((word) => word.startsWith(`${folder}/`))) continue;
    try {
      process.kill(Number(id), 'SIGKILL');
    } catch {
      // It has just ended.
    }
  }
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
      // The programs that a tool is run by, as it was installed: some ask for this very Node.js, or for Bun.
      PATH: [dirname(tool.path), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
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
