/**
 * Builds `dist/`, what the published package runs: src/ without its tests in a few hundred files instead of a
 * thousand, the command `serve` once more with all of a start in one file, `modelgate/codecs` in a file for each module,
 * the generated data files, the pages of the dashboard, and type declarations for `modelgate/codecs` and
 * `modelgate/cesql`. The same source gives the same bytes. Why it is bundled: docs/decisions/0034; why twice: 0048.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type LogLevel, type Plugin, type RolldownLog, rolldown } from 'rolldown';

// Takes no arguments, and refuses any.
parseArgs();

const root = fileURLToPath(new URL('..', import.meta.url));
const src = join(root, 'src');
const dist = join(root, 'dist');
const packagesFolder = join(root, 'node_modules');

/** The program, its workers, the threads that have a file of their own, and what the package exports besides the codecs. */
const entries = ['cli/main', 'worker', 'backup/copy-thread', 'events/database/worker', 'events/cesql/cesql'];

/** `modelgate/codecs`: a file for each module, so that a program's bundler leaves out the formats that it does not name. */
const library = 'codecs/library/library';

/** What a start of the gateway loads: a file of its own, beside which stands what it loads later. */
const serve = 'cli/begin-serve';

/** Packages of many small modules that every command needs; the others are loaded from node_modules. */
const bundled = ['kysely', 'zod'];

/** The other packages that a start of the gateway needs. What they need comes with them. */
const bundledForServe = [...bundled, 'commander', 'pino', 'tokenx', 'undici', 'ws'];

clear();
run(join(root, 'scripts', 'build-dashboard.ts'), ['--if-stale']);
await bundle();
const packages = await bundleServe();
await buildLibrary();
declareTypes();
copyGenerated();
writeFileSync(join(dist, 'licenses.txt'), packages.map(licenseOf).join('\n'));

async function bundle(): Promise<void> {
  const build = await rolldown({
    input: Object.fromEntries(entries.map((name) => [name, join(src, `${name}.ts`)])),
    platform: 'node',
    external: (id) => isPackage(id) && !isOneOf(id, bundled),
    plugins: [packedApart(), keepPlaces(), finished()],
    onLog: refuseWarnings,
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

/** @returns the packages that became part of it */
async function bundleServe(): Promise<string[]> {
  const build = await rolldown({
    input: { [basename(serve)]: join(src, `${serve}.ts`) },
    platform: 'node',
    external: (id, importer) =>
      isPackage(id) &&
      !isOneOf(id, bundledForServe) &&
      (id.startsWith('node:') || !isIn(packagesFolder, importer)),
    plugins: [keepPlaces(), finished()],
    onLog(level, log) {
      // Modules of the start that are also imported late stay in the file of the start.
      if (log.code !== 'INEFFECTIVE_DYNAMIC_IMPORT') refuseWarnings(level, log);
    },
  });
  let atStart: ReadonlySet<string> | null = null;
  const { output } = await build.write({
    dir: join(dist, 'serve'),
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    comments: { legal: true, annotation: false, jsdoc: false },
    codeSplitting: {
      groups: [
        {
          debugName: 'the start',
          name(id, context) {
            atStart ??= reachedFrom(
              [join(src, `${serve}.ts`), join(src, 'cli/commands/serve.ts')],
              (path) => context.getModuleInfo(path)?.importedIds ?? [],
            );
            return atStart.has(id) ? 'gateway' : null;
          },
        },
      ],
    },
  });
  await build.close();
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  return [...new Set(modules.flatMap(packageOf))].sort();
}

/** All that `roots` import, without what is imported late. */
function reachedFrom(roots: readonly string[], importsOf: (path: string) => readonly string[]): Set<string> {
  const reached = new Set(roots);
  for (const path of reached) for (const imported of importsOf(path)) reached.add(imported);
  return reached;
}

function isPackage(id: string): boolean {
  return /^[@a-z]/.test(id);
}

function isOneOf(id: string, names: readonly string[]): boolean {
  return names.some((name) => id === name || id.startsWith(`${name}/`));
}

function isIn(folder: string, path: string | undefined): boolean {
  return path?.startsWith(`${folder}${sep}`) ?? false;
}

/** The name of the package that a module is part of. */
function packageOf(path: string): string[] {
  if (!isIn(packagesFolder, path)) return [];
  const [first = '', second = ''] = relative(packagesFolder, path).split(sep);
  return [first.startsWith('@') ? `${first}/${second}` : first];
}

function refuseWarnings(level: LogLevel, log: RolldownLog): void {
  if (level === 'warn') throw new Error(log.message);
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

/** The program loads what `bundleServe` packs from there. */
function packedApart(): Plugin {
  return {
    name: 'packed-apart',
    resolveId: (id) =>
      basename(id) === `${basename(serve)}.ts`
        ? { id: `../serve/${basename(serve)}.js`, external: true }
        : null,
  };
}

/** What is done to the code of a file when it is complete. */
function finished(): Plugin {
  return {
    name: 'finished',
    generateBundle(_, files) {
      for (const file of Object.values(files))
        if (file.type === 'chunk') file.code = escaped(withoutFacades(file.code));
    },
  };
}

/**
 * Takes Node.js's own modules from `process`: for an `import`, Node.js reads each export of theirs, which loads what
 * stands behind many (WebCrypto, for one).
 */
function withoutFacades(code: string): string {
  return code.replaceAll(
    /^import (?:\{ ([^}]+) \}|(\w+)) from "(node:[\w/]+)";$/gm,
    (_, names: string | undefined, whole: string | undefined, id: string) => {
      const bound = whole ?? `{ ${names?.replaceAll(' as ', ': ')} }`;
      return `const ${bound} = process.getBuiltinModule("${id}");`;
    },
  );
}

/**
 * Writes characters beyond ASCII as escapes, which mean the same in names, strings, templates and expressions: V8 keeps a
 * file with one such character at twice its size, and takes longer to read it.
 */
function escaped(code: string): string {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code)) throw new Error('String.raw would show the escapes');
  if (/(?<!\\)(?:\\\\)*\\[^\0-\x7f]/.test(code)) throw new Error('a backslash would escape the escape');
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
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
