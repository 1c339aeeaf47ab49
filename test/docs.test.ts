import assert from 'node:assert/strict';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type CommandEntry, commonFlags } from '../src/cli/command.ts';
import { commandList } from '../src/cli/commands/index.ts';
import { configFile, loadConfig } from '../src/config.ts';
import { errorRows } from '../src/lib/error.ts';

/** The documentation says what the code does, no less and no more. */
const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
  .map((path) => path.replaceAll(sep, '/'))
  .sort();
const temporary = mkdtempSync(join(tmpdir(), 'modelgate-docs-'));

interface JsonSchema {
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema;
}

const settings = z.toJSONSchema(configFile, { io: 'input' }) as JsonSchema;

function settingNames(schema: JsonSchema, prefix = ''): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    inner.properties === undefined ? [`${prefix}${name}`] : settingNames(inner, `${prefix}${name}.`),
  );
}

/** The rows of a page's tables, cells trimmed, below the heading whose text starts with `heading`. */
function tableRows(page: string, heading: string): string[][] {
  const section = page.split(/^#+ /m).find((part) => part.startsWith(heading)) ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const bare = (cell: string | undefined): string => (cell ?? '').replaceAll('`', '');

/** Every `gateway …` command line in the code blocks and code spans of a page, without prompt, comment and pipe. */
function commandLines(page: string): string[] {
  const blocks = [...page.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block.split('\n'),
  );
  const spans = [...page.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(
    ([, span = '']) => span,
  );
  const substituted = blocks.flatMap((line) =>
    [...line.matchAll(/\$\(([^)]*)\)/g)].map(([, inner = '']) => inner),
  );
  return [...blocks, ...spans, ...substituted]
    .flatMap((line) => line.split(/\s(?:\||&&|#|>)/))
    .map((line) => line.trim().replace(/^(?:\$ |npx |[A-Z_]+=\S+ )*/, ''))
    .filter((line) => /^(?:bin\/)?gateway(?: |$)/.test(line));
}

async function complaintAbout(line: string): Promise<string | null> {
  // What stands behind `--` is for another program.
  const [, ...words] = (line.split(' -- ')[0] ?? '').split(/\s+/);
  const [first = 'serve', second] = words.filter((word) => !word.startsWith('-'));
  const named = (name: string): CommandEntry | undefined => commandList.find((entry) => entry.name === name);
  const entry = named(`${first} ${second}`) ?? named(words[0]?.startsWith('-') ? 'serve' : first);
  const general = ['help', 'version', ...commonFlags.map(({ name }) => name)];
  if (entry === undefined) return `${line}: no such command`;
  const known = [...general, ...(await entry.load()).flags.map(({ name }) => name)];
  const flags = words
    .filter((word) => word.startsWith('--'))
    .map((word) => word.slice(2).replace(/=.*$/, ''));
  const unknown = flags.find((flag) => !known.includes(flag));
  return unknown === undefined ? null : `${line}: ${entry.name} has no flag --${unknown}`;
}

/** Beginnings of paths in the clone. `dist/` is built, and `DATA_DIR/` is the user's. */
const folders = ['src', 'docs', 'test', 'scripts', 'bench', 'proto', 'dashboard'];

/** Every path of a file or folder of the clone, and every end of one: `a/b/c.ts`, `b/c.ts`, `c.ts`. */
const pathEnds: ReadonlySet<string> = new Set(
  globSync(`{${folders.join()}}/**`, { cwd: root, exclude: (path) => path.endsWith('node_modules') }).flatMap(
    (path) => {
      const segments = path.split(sep);
      return segments.map((_, index) => segments.slice(index).join('/'));
    },
  ),
);

/** What stands for the name of a member: `codecs/FORMAT/answer/reader.ts`, `src/tunnels/kinds/<id>.ts`. */
const placeholder = /<[a-z]+>|\b[A-Z]{2,}\b|\*/g;

/** The words of code spans that name a file of TypeScript, or begin with a folder of the clone. */
function pathsInSpans(text: string): string[] {
  const spans = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)];
  return (
    spans
      .flatMap(([, span = '']) => span.split(/\s+/))
      // Where a clone is, in commands.
      .map((word) => word.replace(/^PATH\//, ''))
      .filter((word) => /^[\w.<>*/-]+$/.test(word))
      .filter((word) => /[\w>*]\.tsx?$/.test(word) || folders.some((folder) => word.startsWith(`${folder}/`)))
      // Kinds of files.
      .filter((word) => !word.endsWith('.d.ts') && word !== 'x.test.ts')
  );
}

/** Paths in the comments of a source, in code spans or with all their folders from `src/` on. */
function pathsInComments(source: string): string[] {
  const comments = [...source.matchAll(/\/\*[\s\S]*?\*\/|(?:^|\s)\/\/.*$/gm)].map(([comment]) => comment);
  return comments.flatMap((comment) => [
    ...pathsInSpans(comment.replace(/^\s*\*/gm, '')),
    ...[...comment.matchAll(/(?<![\w./`-])src\/[\w./-]*\w/g)].map(([path]) => path),
  ]);
}

/** @param below the folder in which a path with folders has to begin, beside the root; null: anywhere */
function isPath(word: string, below: string | null = null): boolean {
  const path = word.replace(/\/$/, '');
  const isExact = below !== null && path.includes('/');
  const matches = (end: string) => pathEnds.has(end) && (!isExact || existsSync(join(root, end)));
  if (path.search(placeholder) === -1) return matches(path) || (isExact && matches(`${below}/${path}`));
  const pattern = path
    .split(placeholder)
    .map((part) => part.replaceAll('.', '\\.'))
    .join('[^/]+');
  const members = new RegExp(`^${pattern}$`);
  return [...pathEnds].some((end) => members.test(end));
}

const isDecision = (page: string): boolean => page.startsWith('docs/decisions/');
/** The third line of a decision says so until another one takes its place. */
const isInForce = (decision: string): boolean => /, in force\b/.test(decision.split('\n')[2] ?? '');

describe('the documentation', () => {
  after(() => rmSync(temporary, { recursive: true, force: true }));

  it('links to files that exist', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(root, dirname(page), target)))
        .map((target) => `${page}: ${target}`),
    );
    assert.deepEqual(broken, []);
  });

  it('says of each decision whether it is in force', () => {
    const silent = pages.filter(isDecision).filter((page) => {
      const decision = read(page);
      return !isInForce(decision) && !/, superseded by \[/.test(decision.split('\n')[2] ?? '');
    });
    assert.deepEqual(silent, []);
  });

  it('names files and folders that exist, but for decisions that are history', () => {
    const present = [...pages, 'dashboard/README.md'].filter(
      (page) => page !== 'CHANGELOG.md' && (!isDecision(page) || isInForce(read(page))),
    );
    const missing = present.flatMap((page) =>
      pathsInSpans(read(page))
        .filter((path) => !isPath(path, page === 'docs/architecture.md' ? 'src' : null))
        .map((path) => `${page}: ${path}`),
    );
    assert.deepEqual(missing, []);
  });

  it('names files that exist in comments, too', () => {
    const sources = globSync('{src,test,scripts,bench,dashboard/src}/**/*.{ts,tsx}', { cwd: root });
    assert.ok(sources.length > 1000, 'the sources were found');
    const missing = sources
      .filter((path) => path !== join('test', 'docs.test.ts'))
      .flatMap((path) =>
        pathsInComments(read(path))
          .filter((named) => !isPath(named))
          .map((named) => `${path}: ${named}`),
      );
    assert.deepEqual(missing, []);
  });

  it('would notice a path that does not exist', () => {
    const page =
      'In `src/a/gone.ts`, `node test/gone.ts --flag`, `lib/<id>.ts`, `lib/error.ts`, `docs/cli.md`, `text/html`';
    assert.deepEqual(
      pathsInSpans(page).filter((path) => !isPath(path)),
      ['src/a/gone.ts', 'test/gone.ts'],
    );
    assert.deepEqual(
      pathsInComments(
        "const url = 'https://x.test/src/gone.ts'; // as src/gone.ts does\n/** See\n * `lib/gone.ts`. */",
      ).filter((path) => !isPath(path)),
      ['src/gone.ts', 'lib/gone.ts'],
    );
    assert.deepEqual(
      [
        'lib/error.ts',
        'docs/cli.md',
        'files/folder.ts',
        'codecs/FORMAT/codec.ts',
        'codecs/FORMAT/gone.ts',
      ].map((path) => isPath(path, 'src')),
      [true, true, false, true, false],
    );
  });

  it('shows only commands and flags that exist', async () => {
    const lines = pages.flatMap((page) => commandLines(read(page)).map((line) => ({ page, line })));
    assert.ok(lines.length >= 10, 'command lines were found');
    const complaints = await Promise.all(
      lines.map(async ({ page, line }) => {
        const complaint = await complaintAbout(line);
        return complaint === null ? [] : [`${page}: ${complaint}`];
      }),
    );
    assert.deepEqual(complaints.flat(), []);
  });

  it('would notice a command or a flag that does not exist', async () => {
    const [line = ''] = commandLines('text\n```sh\n$ bin/gateway keys invent x # comment\n```\n');
    assert.equal(line, 'bin/gateway keys invent x');
    assert.match((await complaintAbout(line)) ?? '', /no such command/);
    assert.match((await complaintAbout('gateway keys add x --invented')) ?? '', /no flag --invented/);
    assert.equal(await complaintAbout('gateway keys add x --json'), null);
  });

  it('shows only npm scripts that exist', () => {
    const { scripts } = JSON.parse(read('package.json'));
    const missing = pages.flatMap((page) =>
      [...read(page).matchAll(/npm run ([\w:]+)/g)]
        .map(([, script = '']) => script)
        .filter((name) => !(name in scripts)),
    );
    assert.deepEqual(missing, []);
  });

  it('explains every error code with its status, and no other', () => {
    const rows = [...read('docs/errors.md').matchAll(/^\| `([a-z_]+)` \| (\d+) \|/gm)];
    const documented = rows.map(([, code, status]) => `${code} ${status}`).sort();
    const existing = Object.entries(errorRows).map(([code, { status }]) => `${code} ${status}`);
    assert.deepEqual(documented, existing.sort());
  });

  it('explains every environment variable that is read, and no other', () => {
    const page = read('docs/configuration.md');
    const source = read('src/config.ts');
    const used = [...source.matchAll(/env\['([A-Z_]+)'\]|Variable\(env, '([A-Z_]+)'/g)].map(
      ([, a, b]) => a ?? b ?? '',
    );
    const undocumented = used.filter((name) => !page.includes(`\`${name}\``));
    assert.deepEqual(undocumented, []);
    const documented = tableRows(page, 'Flags').map(([, variable]) => bare(variable));
    assert.ok(documented.length >= 6);
    assert.deepEqual(
      documented.filter((name) => !used.includes(name)),
      [],
    );
  });

  it('explains every setting of config.json and no other', () => {
    const documented = tableRows(read('docs/configuration.md'), '`config.json`').map(([key]) => bare(key));
    assert.deepEqual(documented.sort(), settingNames(settings).sort());
    const rates = tableRows(read('docs/configuration.md'), 'Prices').map(([key]) => bare(key));
    assert.deepEqual(rates, settingNames(settings.properties?.['prices']?.additionalProperties ?? {}));
  });

  it('names the defaults that hold', () => {
    const written: Record<string, unknown> = {};
    for (const [key, value] of tableRows(read('docs/configuration.md'), '`config.json`')) {
      const [outer = '', inner] = bare(key).split('.');
      const parsed: unknown = JSON.parse(bare(value));
      if (inner === undefined) written[outer] = parsed;
      else written[outer] = { ...(written[outer] as object | undefined), [inner]: parsed };
    }
    writeFileSync(join(temporary, 'config.json'), JSON.stringify(written));
    const { dataDir: _, sources: __, ...documented } = loadConfig({ env: { DATA_DIR: temporary } });
    const {
      dataDir: ___,
      sources: ____,
      ...existing
    } = loadConfig({ env: { DATA_DIR: join(temporary, 'none') } });
    assert.deepEqual(documented, existing);
  });
});
