/**
 * Builds `dist/dashboard/app`, the pages that the gateway serves: bundled by Vite, every file compressed at its best, and a
 * manifest with the media type and digest of each. The same sources give the same bytes.
 *
 * `--if-stale` does nothing where the pages are as new as their sources, which `npm start` and `npm test` ask for.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const { values: flags } = parseArgs({ options: { 'if-stale': { type: 'boolean', default: false } } });

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'dist', 'dashboard', 'app');
const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};

if (flags['if-stale'] && isUpToDate()) process.exit(0);

// Whole or not at all: a gateway may be serving the former one, and another build may run.
const made = `${target}.${process.pid}`;
build(made);
const shared = takeSharedSources(made);
compress(made, { shared, sources: digestOf(shared) });
rmSync(target, { recursive: true, force: true });
renameSync(made, target);

/** @param shared the gateway's own modules that the pages share, from the root of the project on */
function digestOf(shared: readonly string[]): string {
  const files = globSync(
    [
      'dashboard/{src,public}/**/*.*',
      'dashboard/{index.html,package.json,vite.config.ts,tsconfig.json}',
      'package-lock.json',
      'scripts/build-dashboard.ts',
    ],
    { cwd: root },
  ).filter((file) => !/\.test\.tsx?$/.test(file));
  const hash = createHash('sha256');
  for (const file of [...files, ...shared].sort())
    hash.update(`${file}\0`).update(readFileSync(join(root, file)));
  return hash.digest('hex');
}

function isUpToDate(): boolean {
  try {
    const { shared, sources } = JSON.parse(readFileSync(join(target, 'manifest.json'), 'utf8'));
    return digestOf(shared) === sources;
  } catch {
    return false;
  }
}

/** Takes out of the folder what `dashboard/vite.config.ts` wrote for this script alone. */
function takeSharedSources(folder: string): string[] {
  const list = join(folder, 'gateway-sources.json');
  const shared: string[] = JSON.parse(readFileSync(list, 'utf8'));
  rmSync(list);
  return shared;
}

function build(folder: string): void {
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const args = [vite, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'];
  const { status, error } = spawnSync(process.execPath, args, {
    cwd: join(root, 'dashboard'),
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (error) throw error;
  if (status !== 0) {
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  }
}

/** Leaves each file as `.br` and `.gz` alone: who takes neither gets the second one unpacked. */
function compress(folder: string, built: { shared: readonly string[]; sources: string }): void {
  const files: Record<string, { type: string; etag: string }> = {};
  for (const path of globSync('**/*.*', { cwd: folder }).sort()) {
    const name = path.replaceAll('\\', '/');
    const type = types[extname(name)];
    if (type === undefined) throw new Error(`${name} has no media type in scripts/build-dashboard.ts`);
    const file = join(folder, path);
    const bytes = readFileSync(file);
    const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, quality));
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    rmSync(file);
    files[name] = { type, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
  }
  mkdirSync(dirname(folder), { recursive: true });
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...built, files }));
}
