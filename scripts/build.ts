/**
 * Builds `dist/`, what the published package runs: src/ without its tests in a few hundred files instead of a
 * thousand, `modelgate/codecs` in a file for each module, the generated data files, the pages of the dashboard, and type
 * declarations for `modelgate/codecs` and `modelgate/cesql`. The same source gives the same bytes. Why it is bundled: docs/decisions/0034.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');
const dist = join(root, 'dist');

/** The program, the thread of the event database, and what the package exports besides the codecs. */
const entries = ['cli/main', 'events/database/worker', 'events/cesql/cesql'];

/** `modelgate/codecs`: a file for each module, so that a program's bundler leaves out the formats that it does not name. */
const library = 'codecs/library/library';

/** Packages of many small modules that every start needs; the others are loaded from node_modules. */
const bundled = ['kysely', 'zod'];

clear();
run(join(root, 'scripts', 'build-dashboard.ts'), ['--if-stale']);
await bundle();
await buildLibrary();
declareTypes();
copyGenerated();
writeFileSync(join(dist, 'licenses.txt'), bundled.map(licenseOf).join('\n'));

async function bundle(): Promise<void> {
  const build = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(src, `${name}.ts`)])),
    platform: 'node',
    external: (id) => /^[@a-z]/.test(id) && !bundled.some((name) => id === name || id.startsWith(`${name}/`)),
    plugins: [keepPlaces()],
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  await build.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await build.close();
}

async function buildLibrary(): Promise<void> {
  const build = await rolldown({
    input: { [library]: join(src, `${library}.ts`) },
    platform: 'neutral',
    external: ['tokenx'],
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  await build.write({
    dir: dist,
    format: 'esm',
    preserveModules: true,
    preserveModulesRoot: src,
    entryFileNames: '[name].js',
    comments: { legal: true, annotation: true, jsdoc: false },
  });
  await build.close();
}

/**
 * What a module reads beside itself (`new URL('./prices.gen.json', import.meta.url)`) stays where it is in src/, while
 * its code moves into a chunk: `import.meta.url` becomes the module's old place. Chunks and the program are all one
 * folder deep.
 */
function keepPlaces(): Plugin {
  return {
    name: 'keep-places',
    transform(code, id) {
      if (!id.startsWith(src) || !code.includes('import.meta.url')) return null;
      const place = `../${relative(src, id).replace(/\.ts$/, '.js')}`;
      return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(place)}, import.meta.url).href`);
    },
  };
}

/** Removes all but the pages of the dashboard, which take long and are built anew only when their sources have changed. */
function clear(): void {
  mkdirSync(join(dist, 'dashboard'), { recursive: true });
  for (const name of readdirSync(dist))
    if (name !== 'dashboard') rmSync(join(dist, name), { recursive: true });
  for (const name of readdirSync(join(dist, 'dashboard')))
    if (name !== 'app') rmSync(join(dist, 'dashboard', name), { recursive: true, force: true });
}

function declareTypes(): void {
  run(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), ['-p', 'tsconfig.exports.json']);
}

function run(program: string, args: string[]): void {
  const { status, error } = spawnSync(process.execPath, [program, ...args], { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(1);
}

function copyGenerated(): void {
  for (const file of globSync('**/*.gen.json', { cwd: src })) {
    const target = join(dist, file);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(src, file), target);
  }
}

/** The licence under which a bundled package may be passed on, which asks to be passed on with it. */
function licenseOf(name: string): string {
  const folder = join(root, 'node_modules', name);
  const [file] = globSync('LICENSE*', { cwd: folder });
  if (file === undefined) throw new Error(`${name} has no licence file`);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
