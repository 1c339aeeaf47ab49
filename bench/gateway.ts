import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Format } from './plan.ts';
import { root, type SubjectOptions } from './subject.ts';

const run = promisify(execFile);

/** The provider that speaks a format to the mock, and where the mock serves it. */
const connections: Readonly<Record<Format, { provider: string; name: string; base: string }>> = {
  chat: { provider: 'openai-compatible', name: 'bench', base: '/v1' },
  messages: { provider: 'anthropic-compatible', name: 'bench-messages', base: '/v1' },
  responses: { provider: 'responses-compatible', name: 'bench-responses', base: '/v1' },
  gemini: { provider: 'gemini-compatible', name: 'bench-gemini', base: '' },
};

/** What selects the connection of a format in a model id. */
export const modelPrefixes: Readonly<Record<Format, string>> = {
  chat: `${connections.chat.name}/`,
  messages: `${connections.messages.name}/`,
  responses: `${connections.responses.name}/`,
  gemini: `${connections.gemini.name}/`,
};

/** The real program, set up as a user would: one key, a connection to the mock for each format, authentication and ledger on. */
export interface GatewaySetup {
  /** `dist` or `src`. */
  from: 'dist' | 'src';
  /** True when a source file is newer than the build that is measured. */
  stale: boolean;
  key: string;
  /**
   * How to start one gateway, each on a data directory of its own. Compiled code is kept from start to start, as
   * `bin/gateway.js` keeps it, unless `compiled` is false.
   */
  next(options?: { nodeFlags?: readonly string[]; compiled?: boolean }): SubjectOptions;
  remove(): void;
}

/** Where the program of the checkout at `folder` starts: the published form when it was built. Null when there is no program yet. */
export function findGateway(
  wanted: 'dist' | 'src' | null,
  folder: string = root,
): { from: 'dist' | 'src'; script: string } | null {
  for (const from of wanted === null ? (['dist', 'src'] as const) : [wanted]) {
    const script = join(folder, from, 'cli', from === 'dist' ? 'main.js' : 'main.ts');
    if (existsSync(script)) return { from, script };
  }
  return null;
}

export interface SetUpInput {
  upstreamPort: number;
  /** They get a price, so that every row is priced. */
  plans: readonly string[];
  core: number;
  /** What else `config.json` says. */
  config?: object;
}

/** Makes a data directory with the program's own commands. */
export async function setUpGateway(
  { from, script }: { from: 'dist' | 'src'; script: string },
  { config = {}, core, plans, upstreamPort }: SetUpInput,
): Promise<GatewaySetup> {
  const scratch = mkdtempSync(join(tmpdir(), 'modelgate-bench-'));
  const template = join(scratch, 'template');
  const env = (dataDir: string) => ({ DATA_DIR: dataDir, HOME: scratch });
  const command = async (...args: string[]) => {
    const { stdout } = await run(process.execPath, [script, ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', ...env(template) },
    });
    return stdout;
  };
  const added: unknown = JSON.parse(await command('keys', 'add', 'bench', '--json'));
  const key = added !== null && typeof added === 'object' && 'key' in added ? String(added.key) : '';
  for (const { base, name, provider } of Object.values(connections)) {
    const upstream = `http://127.0.0.1:${upstreamPort}${base}`;
    await command(
      ...['provider', 'add', provider, '--name', name, '--base-url', upstream],
      ...['--api-key', 'sk-upstream-of-the-bench', '--json'],
    );
  }
  const prices = Object.fromEntries(
    plans.map((plan) => [`*/${plan}`, { input: 2, output: 8, cache_read: 0.2 }]),
  );
  writeFileSync(join(template, 'config.json'), JSON.stringify({ ...config, prices }));
  let started = 0;
  return {
    from,
    stale: from === 'dist' && newestOf(join(root, 'src')) > statSync(script).mtimeMs,
    key,
    next({ compiled = true, nodeFlags = [] } = {}) {
      started += 1;
      const dataDir = join(scratch, `data-${started}`);
      cpSync(template, dataDir, { recursive: true });
      return {
        name: 'the gateway',
        args: [...nodeFlags, script, 'serve', '--port', '0'],
        core,
        env: { ...env(dataDir), ...(compiled ? { NODE_COMPILE_CACHE: join(scratch, 'compiled') } : {}) },
      };
    },
    remove: () => rmSync(scratch, { recursive: true, force: true }),
  };
}

function newestOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Math.max(
    0,
    ...files.map((file) => (file.isFile() ? statSync(join(file.parentPath, file.name)).mtimeMs : 0)),
  );
}
