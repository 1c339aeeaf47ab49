/**
 * Writes src/events/gen from the schema in proto/.
 *
 *   node scripts/build-protobuf.ts            generate
 *   node scripts/build-protobuf.ts --check    write nothing; exit 1 when the schema breaks buf's rules or the released
 *                                             schema, or when the generated files differ
 *   node scripts/build-protobuf.ts --release  make the schema the released one, which later ones must not break
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: { check: { type: 'boolean', default: false }, release: { type: 'boolean', default: false } },
});

const root = join(import.meta.dirname, '..');
const schema = join(root, 'proto');
const released = join(schema, 'released.txtpb');
const generated = join(root, 'src', 'events', 'gen');
const temporary = mkdtempSync(join(tmpdir(), 'modelgate-protobuf-'));

try {
  if (flags.check) check();
  else if (flags.release) buf('build', '--exclude-source-info', '-o', released);
  else generate();
} finally {
  rmSync(temporary, { recursive: true, force: true });
}

function generate(): void {
  const fresh = freshFiles();
  rmSync(generated, { recursive: true, force: true });
  cpSync(fresh, generated, { recursive: true });
}

function check(): void {
  buf('lint');
  buf('breaking', '--against', released);
  if (JSON.stringify(filesIn(freshFiles())) === JSON.stringify(filesIn(generated))) return;
  console.error('src/events/gen is not what the schema makes: run node scripts/build-protobuf.ts');
  process.exitCode = 1;
}

/** The folder with newly generated files. */
function freshFiles(): string {
  buf('generate', '-o', temporary);
  return join(temporary, 'gen');
}

function filesIn(folder: string): [path: string, text: string][] {
  return globSync('**/*.ts', { cwd: folder })
    .sort()
    .map((path) => [path, readFileSync(join(folder, path), 'utf8')]);
}

/** Runs buf on the schema, without the network. What it complains about ends the script. */
function buf(...args: string[]): void {
  const program = join(root, 'node_modules', '@bufbuild', 'buf', 'bin', 'buf');
  const path = [join(root, 'node_modules', '.bin'), dirname(process.execPath), process.env['PATH'] ?? ''];
  const { status, error } = spawnSync(process.execPath, [program, ...args], {
    cwd: schema,
    stdio: 'inherit',
    env: { ...process.env, PATH: path.join(delimiter), BUF_CACHE_DIR: join(temporary, 'cache') },
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`buf ${args[0]} failed`);
}
