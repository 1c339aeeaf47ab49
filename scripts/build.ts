/**
 * Builds `dist/`, what the published package runs: plain JavaScript of src/ without its tests, the generated
 * data files, and type declarations for `modelgate/codecs` and `modelgate/cesql`. The same source gives the same bytes.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });
compile(['-p', 'tsconfig.build.json']);
compile(['-p', 'tsconfig.exports.json']);
for (const file of globSync('**/*.gen.json', { cwd: join(root, 'src') })) {
  const target = join(dist, file);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join(root, 'src', file), target);
}

function compile(args: string[]): void {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, error } = spawnSync(process.execPath, [compiler, ...args], { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(1);
}
