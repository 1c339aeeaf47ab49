import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

/**
 * The house rules that a compiler does not know; docs/architecture.md says why. A unit is a folder of src/, or
 * a file that stands beside them. Imports go from a higher row to a lower one, or stay inside a unit.
 */
const rows: Readonly<Record<string, number>> = {
  cli: 10,
  'gateway.ts': 9,
  gateway: 8,
  'worker.ts': 8,
  'management-api.ts': 7,
  proxy: 5,
  events: 5,
  agents: 5,
  'snapshot.ts': 4,
  'records.ts': 4,
  simulation: 4,
  telemetry: 4,
  ledger: 3,
  combos: 3,
  budgets: 3,
  cache: 3,
  responses: 3,
  settings: 3,
  backup: 3,
  tunnels: 3,
  access: 2,
  connections: 2,
  catalog: 2,
  health: 2,
  tools: 2,
  management: 6,
  a2a: 6,
  mcp: 6,
  dashboard: 6,
  'state.ts': 5,
  services: 6,
  workers: 6,
  alerts: 6,
  providers: 1,
  codecs: 0,
  http: 0,
  store: 0,
  'run-file.ts': 0,
  'config.ts': -1,
  lib: -2,
};
/**
 * The same inside src/proxy, whose rooms are too many to be one thing: a room, or a file beside the rooms, imports those below
 * it, also where it is only a type.
 */
const proxyRows: Readonly<Record<string, number>> = {
  websocket: 15,
  'surface.ts': 14,
  'proxy.ts': 13,
  'dry-run.ts': 12,
  'count.ts': 12,
  'answer-cache': 11,
  'prologue.ts': 11,
  'own-usage.ts': 11,
  'stored-responses.ts': 11,
  'model-list': 11,
  'context.ts': 10,
  dispatch: 9,
  relay: 8,
  quirks: 8,
  translate: 7,
  'responses-state': 6,
  answer: 5,
  upstream: 4,
  upload: 4,
  inbound: 3,
  metering: 2,
  request: 1,
  json: 0,
};
const memberFolders = [
  'codecs',
  'providers',
  'cli/commands',
  'store/migrations',
  'combos/strategies',
  'tools/catalogue',
  'tools/catalogue/agents',
  'tools/catalogue/code',
  'mcp/tools',
  'tunnels/kinds',
];
const cesql = 'events/cesql/';
const codecsMayImport = ['lib/bytes.ts', 'lib/error.ts', 'lib/streams/frame-buffer.ts', 'lib/streams/sse.ts'];
/**
 * What the gateway takes from the codecs: their list and contract, the translation that `modelgate/codecs` publishes, its neutral
 * model, what relaying reads in bytes, and what says which turns are translated alike wherever they stand. Further modules are theirs alone; what is used no longer leaves this list.
 */
const codecModules: ReadonlySet<string> = new Set([
  'adapt/continuation.ts',
  'adapt/join-surrogates.ts',
  'adapt/optional-fields.ts',
  'adapt/output-cap.ts',
  'adapt/refused-field.ts',
  'adapt/tool-names.ts',
  'codec.ts',
  'wire-codec.ts',
  'encrypted-reasoning/embed.ts',
  'encrypted-reasoning/owner.ts',
  'encrypted-reasoning/strip.ts',
  'exchanges/shape.ts',
  'failures/error-in-answer.ts',
  'failures/overflow.ts',
  'failures/vendor-message.ts',
  'gemini/answer/error.ts',
  'history/relayed.ts',
  'index.ts',
  'json/byte-search.ts',
  'json/bytes.ts',
  'json/cursor.ts',
  'json/fields.ts',
  'json/lossless.ts',
  'json/needle.ts',
  'json/values.ts',
  'json/wire-check.ts',
  'model/client-words.ts',
  'model/concept.ts',
  'model/conversation.ts',
  'model/dialect.ts',
  'model/finish-reason.ts',
  'model/stream-part.ts',
  'model/tier.ts',
  'model/tool-call-groups.ts',
  'openai-chat/request/history.ts',
  'openai-responses/request/compaction.ts',
  'openai-responses/answer/encode.ts',
  'openai-responses/answer/stream.ts',
  'openai-shared/choice-stream.ts',
  'openai-shared/error.ts',
  'passthrough/media.ts',
  'prompt-cache/cache-worth.ts',
  'schema/fit.ts',
  'schema/rules.ts',
  'translate/answer.ts',
  'translate/request.ts',
  'usage/counting.ts',
  'usage/token-estimate.ts',
  'usage/usage-bytes.ts',
  'wire-format.ts',
]);
/** Importing a value from these loads far more than is used; the reasons stand in the files that may do it. */
const heavy: Readonly<Record<string, string>> = {
  undici: 'http/outbound/undici.ts',
  'node:http': 'http/server/node-http.ts',
};
const vagueNames = /(^|[/-])(manager|helpers?|utils?|common|misc)([./-]|$)/;

/** Path below src/ → text. */
type Sources = ReadonlyMap<string, string>;

const root = fileURLToPath(new URL('..', import.meta.url));
const sources: Sources = new Map(
  globSync('**/*.ts', { cwd: join(root, 'src'), exclude: (path) => path.endsWith('.test.ts') })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !path.startsWith('events/gen/'))
    .map((path) => [path, readFileSync(join(root, 'src', path), 'utf8')]),
);

const unitOf = (path: string): string => path.split('/')[0] ?? path;

const withoutComments = (text: string): string =>
  text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');

function importsOf(text: string): string[] {
  const pattern =
    /^\s*(?:import|export)\b[^'";]*?from\s*'([^']+)'|^\s*import\s*'([^']+)'|\bimport\(\s*'([^']+)'/gm;
  return [...withoutComments(text).matchAll(pattern)].map((found) => found[1] ?? found[2] ?? found[3] ?? '');
}

const inProxy = 'proxy/';

function rowInProxy(path: string): number | undefined {
  return proxyRows[unitOf(path.slice(inProxy.length))];
}

/** An import inside src/proxy that goes up, or from a room to another of its row. */
function proxyViolation(path: string, target: string): string | null {
  const [from, to] = [path, target].map((one) => unitOf(one.slice(inProxy.length)));
  const [fromRow, toRow] = [rowInProxy(path), rowInProxy(target)];
  if (fromRow === undefined || toRow === undefined)
    return `${path}: ${from} or ${to} has no row inside proxy/ in this test`;
  if (from === to || fromRow > toRow) return null;
  return `${path} (row ${fromRow} of proxy/) imports ${target} (row ${toRow})`;
}

/** Files that import each other by any way around, also types alone: each group once, its files in order. */
function cycles(files: Sources): string[][] {
  const imports = new Map<string, string[]>();
  for (const [path, text] of files) {
    const targets = importsOf(text)
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => posix.normalize(posix.join(dirname(path), specifier)));
    imports.set(
      path,
      targets.filter((target) => files.has(target)),
    );
  }
  // Tarjan's: a group is complete when its first file has nothing above it left to reach.
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const visit = (path: string): number => {
    const mine = order.size;
    order.set(path, mine);
    open.push(path);
    let low = mine;
    for (const target of imports.get(path) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (open.includes(target)) low = Math.min(low, lowest.get(target) ?? order.get(target) ?? low);
    }
    lowest.set(path, low);
    if (low < mine) return low;
    const group = open.splice(open.indexOf(path));
    if (group.length > 1) found.push(group.sort());
    return low;
  };
  for (const path of files.keys()) if (!order.has(path)) visit(path);
  return found;
}

/** What is imported when a file is loaded: neither types nor what is imported late. */
function staticImportsOf(text: string): string[] {
  const statements = withoutComments(text).matchAll(
    /^(?:import|export)\s+(?!type\b)(?:([^;'"]*?)\s*from\s+)?'([^']+)'/gm,
  );
  return [...statements].flatMap(([, names = '', specifier = '']) => {
    const listed = /^\{([^}]*)\}$/.exec(names.trim())?.[1]?.split(',') ?? [];
    const named = listed.map((name) => name.trim()).filter((name) => name !== '');
    return named.length > 0 && named.every((name) => name.startsWith('type ')) ? [] : [specifier];
  });
}

function importViolation(path: string, specifier: string): string | null {
  const from = unitOf(path);
  const schema = path.endsWith('schema.ts');
  if (!specifier.startsWith('.')) {
    if (schema && specifier !== 'zod')
      return `${path}: a schema imports only zod and schemas, not ${specifier}`;
    if (from === 'codecs' && specifier !== 'tokenx')
      return `${path}: codecs are pure and import no package but tokenx: ${specifier}`;
    if (path.startsWith(cesql)) return `${path}: CESQL imports no package: ${specifier}`;
    if (from === 'proxy' && specifier === 'kysely') return `${path}: the request path does no SQL`;
    return null;
  }
  const target = posix.normalize(posix.join(dirname(path), specifier));
  if (target.startsWith('../'))
    return target === '../package.json' ? null : `${path}: imports ${target} outside src/`;
  if (path.startsWith(cesql) && !target.startsWith(cesql)) return `${path}: CESQL stands alone: ${target}`;
  const to = unitOf(target);
  if (schema && !target.endsWith('schema.ts'))
    return `${path}: a schema imports only zod and schemas, not ${target}`;
  if (from === to) return from === 'proxy' ? proxyViolation(path, target) : null;
  const fromRow = rows[from];
  const toRow = rows[to];
  if (fromRow === undefined || toRow === undefined)
    return `${path}: ${from} or ${to} has no row in this test`;
  if (fromRow <= toRow) return `${path} (row ${fromRow}) imports ${target} (row ${toRow})`;
  if (from === 'codecs' && !codecsMayImport.includes(target)) return `${path}: codecs are pure: ${target}`;
  if (to === 'codecs' && !codecModules.has(target.slice('codecs/'.length)))
    return `${path}: ${target} is the codecs' own: take what codecs/translate offers`;
  if (from === 'proxy' && (to === 'store' || target.endsWith('/store.ts'))) {
    return `${path}: the request path does no SQL: ${target}`;
  }
  return null;
}

function fileViolations(path: string, text: string): string[] {
  const found: string[] = [];
  const code = withoutComments(text);
  if (path !== 'config.ts' && /\bprocess\s*(\.|\[\s*')env\b/.test(code)) {
    found.push(`${path}: reads process.env, which only config.ts does`);
  }
  if (path !== 'cli/terminal/io.ts' && /\bconsole\s*\.\s*\w+\s*\(/.test(code))
    found.push(`${path}: uses console, which only cli/terminal/io.ts does`);
  if (path.endsWith('/index.ts') && !memberFolders.includes(dirname(path)))
    found.push(`${path}: is a barrel`);
  if (/\b(?:sql|transaction)\s*(?:\(\))?\s*\.\s*(?:begin|savepoint)\s*\(/i.test(code))
    found.push(
      `${path}: uses a transaction of postgres.js: take inTransaction of store/postgres/transaction.ts`,
    );
  for (const [, what = ''] of code.matchAll(/^import (?!type\b)[^;]*?from '([^']+)'/gm)) {
    const instead = heavy[what];
    if (instead !== undefined && path !== instead && unitOf(path) !== 'cli')
      found.push(`${path}: loads all of ${what}: take it from ${instead}`);
  }
  if (vagueNames.test(path)) found.push(`${path}: has a name that says nothing`);
  return found;
}

function violations(files: Sources): string[] {
  const found: string[] = [];
  for (const [path, text] of files) {
    found.push(...fileViolations(path, text));
    for (const specifier of importsOf(text)) {
      const violation = importViolation(path, specifier);
      if (violation !== null) found.push(violation);
    }
  }
  return found;
}

describe('the architecture', () => {
  it('holds in src/', () => {
    assert.ok(sources.size > 10, 'src/ was found');
    assert.deepEqual(violations(sources), []);
  });

  it('has no files that import each other, not even for their types', () => {
    assert.deepEqual(cycles(sources), []);
  });

  it('finds files that import each other, by whatever way', () => {
    const files: Sources = new Map([
      ['lib/a.ts', "import type { B } from './b.ts';\n"],
      ['lib/b.ts', "import { c } from './c.ts';\n"],
      ['lib/c.ts', "export type { A } from './a.ts';\nimport { d } from './d.ts';\n"],
      ['lib/d.ts', 'export const d = 1;\n'],
    ]);
    assert.deepEqual(cycles(files), [['lib/a.ts', 'lib/b.ts', 'lib/c.ts']]);
  });

  it('starts without what only the management API, undici, tools, workers or OTLP need', () => {
    const reached = new Set(['cli/commands/serve.ts']);
    for (const path of reached)
      for (const specifier of staticImportsOf(sources.get(path) ?? '')) {
        const target = posix.normalize(posix.join(dirname(path), specifier));
        if (specifier.startsWith('.') && sources.has(target)) reached.add(target);
      }
    assert.ok(reached.has('proxy/surface.ts'), 'the data plane was found');
    const late = [
      'management-api.ts',
      'management/open.ts',
      'ledger/schema.ts',
      'tools/schema.ts',
      'services/resource.ts',
      'http/outbound/undici.ts',
      'backup/create.ts',
      'workers/open.ts',
      'telemetry/otlp/open.ts',
    ];
    assert.deepEqual(
      late.filter((path) => !sources.has(path) || reached.has(path)),
      [],
      'each of these costs every start time and memory: import it with `await import`, or types alone',
    );
  });

  it('takes from the codecs what is listed, and lists no more', () => {
    const used = [...sources].flatMap(([path, text]) =>
      path.startsWith('codecs/')
        ? []
        : importsOf(text).flatMap((specifier) => {
            const target = posix.normalize(posix.join(dirname(path), specifier));
            return specifier.startsWith('.') && target.startsWith('codecs/')
              ? [target.slice('codecs/'.length)]
              : [];
          }),
    );
    assert.deepEqual([...new Set(used)].sort(), [...codecModules].sort());
  });

  it('is described: docs/architecture.md names every unit of src/ and no other', () => {
    const page = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8');
    const present = [...new Set([...sources.keys()].map(unitOf))].sort();
    const named = Object.keys(rows).filter((unit) =>
      page.includes(`\`${unit.endsWith('.ts') ? unit : `${unit}/`}\``),
    );
    assert.deepEqual(named.sort(), present);
  });

  const planted: readonly [rule: string, path: string, text: string, complaint: RegExp][] = [
    ['an import upwards', 'http/send.ts', "import { a } from '../proxy/proxy.ts';\n", /row 0.*row 5/],
    [
      'an import sideways',
      'ledger/record.ts',
      "import type { A } from '../combos/resolve.ts';\n",
      /row 3.*row 3/,
    ],
    [
      'an import over lines',
      'lib/log.ts',
      "import {\n  a,\n} from '../store/database.ts';\n",
      /row -2.*row 0/,
    ],
    [
      'a late import upwards',
      'store/migrate.ts',
      "const a = await import('../cli/main.ts');\n",
      /row 0.*row 10/,
    ],
    [
      'an import upwards inside the data plane',
      'proxy/upstream/attempt.ts',
      "import type { RunContext } from '../dispatch/run.ts';\n",
      /row 4 of proxy.*row 9/,
    ],
    [
      'an import sideways inside the data plane',
      'proxy/relay/whole.ts',
      "import { learnOutputCap } from '../quirks/output-caps.ts';\n",
      /row 8 of proxy.*row 8/,
    ],
    [
      'a room of the data plane without a row',
      'proxy/novelty/a.ts',
      "import { joined } from '../json/joined.ts';\n",
      /no row inside proxy/,
    ],
    ['a re-export upwards', 'lib/id.ts', "export { a } from '../config.ts';\n", /row -2.*row -1/],
    ['a folder without a row', 'novelty/a.ts', "import { a } from '../lib/error.ts';\n", /no row/],
    ['an import from outside', 'lib/id.ts', "import { a } from '../../scripts/build.ts';\n", /outside src/],
    ['a schema with logic', 'access/schema.ts', "import { a } from './keys.ts';\n", /only zod.*keys/],
    ['a schema with a package', 'access/schema.ts', "import { sql } from 'kysely';\n", /only zod.*kysely/],
    ['a codec with I/O', 'codecs/codec.ts', "import { a } from 'node:fs';\n", /pure.*node:fs/],
    [
      'a module of the codecs that is their own',
      'proxy/proxy.ts',
      "import { adapt } from '../codecs/adapt/adapt.ts';\n",
      /the codecs' own/,
    ],
    ['a codec with an id', 'codecs/codec.ts', "import { newId } from '../lib/id.ts';\n", /pure.*id\.ts/],
    [
      'CESQL with a package',
      'events/cesql/like.ts',
      "import { a } from 'node:url';\n",
      /no package.*node:url/,
    ],
    [
      'CESQL with an id',
      'events/cesql/like.ts',
      "import { newId } from '../../lib/id.ts';\n",
      /stands alone.*id\.ts/,
    ],
    ['queries in the request path', 'proxy/proxy.ts', "import { a } from '../access/store.ts';\n", /no SQL/],
    ['Kysely in the request path', 'proxy/proxy.ts', "import { sql } from 'kysely';\n", /no SQL/],
    ['the environment', 'proxy/proxy.ts', 'const debug = process.env.DEBUG;\n', /process\.env/],
    [
      'the environment by index',
      'proxy/proxy.ts',
      "const debug = process['env']['DEBUG'];\n",
      /process\.env/,
    ],
    [
      'all of undici',
      'proxy/upstream/pools.ts',
      "import { Pool } from 'undici';\n",
      /http\/outbound\/undici\.ts/,
    ],
    [
      "all of Node's HTTP",
      'http/send.ts',
      "import {\n  a,\n} from 'node:http';\n",
      /http\/server\/node-http\.ts/,
    ],
    ['the console', 'proxy/proxy.ts', "console.log('here');\n", /console/],
    [
      'a transaction that a lost connection makes fatal',
      'store/postgres/insert.ts',
      'await sql().begin(async (transaction) => {});\n',
      /inTransaction/,
    ],
    ['a barrel', 'ledger/index.ts', "export * from './record.ts';\n", /barrel/],
    ['a vague name', 'lib/string-utils.ts', 'export const a = 1;\n', /says nothing/],
  ];
  for (const [rule, path, text, complaint] of planted) {
    it(`refuses ${rule}`, () => assert.match(violations(new Map([[path, text]])).join('\n'), complaint));
  }

  it('accepts what the rules allow', () => {
    const allowed: Sources = new Map([
      [
        'cli/commands/index.ts',
        "import { list } from './list.ts';\nimport { createGateway } from '../../gateway.ts';\n",
      ],
      ['codecs/openai-chat/request.ts', "import { GatewayError } from '../../lib/error.ts';\n"],
      ['access/schema.ts', "import { z } from 'zod';\n"],
      [
        'lib/id.ts',
        "// see import { a } from '../cli/main.ts'\nimport { randomBytes } from 'node:crypto';\n",
      ],
      [
        'http/server/server.ts',
        "import type { Server } from 'node:http';\nimport type { Pool } from 'undici';\n",
      ],
      ['config.ts', 'export const home = process.env.HOME;\n'],
      ['cli/terminal/io.ts', "console.error('to the user');\n"],
      ['providers/groq.ts', "export const website = 'https://console.groq.com';\n"],
    ]);
    assert.deepEqual(violations(allowed), []);
  });
});
