/**
 * What a large installation costs, on SQLite or, with `--database`, on PostgreSQL: how long each list and report of the management API takes, how long the event
 * loop stands still when a key is added, how long a start takes, and the CPU of model requests beside an empty installation.
 *   nice node bench/large-installation.ts --dir DIR [--requests N] [--rounds N] [--parts lists,cli,changes,path]
 *     [--main PATH/src/cli/main.ts] [--settle SECONDS] [--window DAYS] [--days DAYS] [--database postgres://… --server PID]
 *     [--only TEXT] [--active N]
 * `--window` is what a month stands for below, `--settle` how long a start may go on in the background before lists or requests are
 * measured, and `--days` over how many days the requests are spread. `--database` is an empty database at first; `--server` is the process
 * of its server, whose CPU then counts too. `--only` measures the lists
 * whose names contain a text. `--active` is how many keys, and how many models and combos, the requests of the path use; default: all, at random. DIR keeps the two installations, so that a second run makes none. `--main` measures an older version; it must come
 * first, for the newer one changes the database.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { createLoad, type LaneContext, loopJob, measure, type Side } from './lane.ts';
import { type FilledInstallation, filled, storageKey } from './large-fill.ts';
import { type Plan, planName, requestSizes } from './plan.ts';
import { root, type Subject, startSubject } from './subject.ts';

const run = promisify(execFile);
const flags = parseArgs({
  options: {
    dir: { type: 'string' },
    requests: { type: 'string', default: '1000000' },
    keys: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    parts: { type: 'string', default: 'lists,cli,changes,path' },
    main: { type: 'string', default: join(root, 'src', 'cli', 'main.ts') },
    settle: { type: 'string', default: '0' },
    window: { type: 'string', default: '30' },
    days: { type: 'string', default: '100' },
    database: { type: 'string' },
    server: { type: 'string' },
    only: { type: 'string', default: '' },
    active: { type: 'string' },
  },
}).values;
const rounds = Number(flags.rounds);
const parts = flags.parts.split(',');
const active = flags.active === undefined ? null : Number(flags.active);
const BYTES_PER_REQUEST = 1_500;
/** Where the mock listens: the installations that are kept have it in them. */
const MOCK_PORT = 47_391;
/** What requests are measured with: 1 KB and 30 KB there, and as much back. */
const plans: readonly Plan[] = (['1k', '30k'] as const).map((request) => ({
  kind: 'json',
  client: 'chat',
  upstream: 'chat',
  request,
  modelAt: 'first',
  answerBytes: requestSizes[request],
}));

interface Installation {
  dataDir: string;
  made: FilledInstallation;
}

async function installations(dir: string): Promise<{ empty: Installation; large: Installation }> {
  const requests = Number(flags.requests);
  mkdirSync(dir, { recursive: true });
  const { bavail, bsize } = statfsSync(dir);
  if (bavail * bsize < 2 * BYTES_PER_REQUEST * requests)
    throw new Error(`there is not room enough on ${dir}`);
  const upstream = `http://127.0.0.1:${MOCK_PORT}/v1`;
  const progress = (text: string) => void process.stderr.write(`${text}\n`);
  const make = async (name: string, size: FilledInstallation['size']): Promise<Installation> => {
    const dataDir = join(dir, name);
    const database = name === 'large' && flags.database !== undefined ? { database: flags.database } : {};
    return {
      dataDir,
      made: await filled({ dataDir, ...database, upstream, plans: plans.map(planName), size, progress }),
    };
  };
  const days = Number(flags.days);
  const large = { keys: Number(flags.keys), connections: 1_000, combos: 200, budgets: 100, requests, days };
  return {
    // Something of each, so that both do the same work for a request.
    empty: await make('empty', { keys: 10, connections: 10, combos: 2, budgets: 0, requests: 0, days }),
    large: await make('large', large),
  };
}

function serve({ dataDir }: Installation): Promise<Subject> {
  return startSubject(
    {
      name: 'the gateway',
      args: [flags.main, 'serve', '--port', '0'],
      core: 0,
      patienceMs: 600_000,
      env: { DATA_DIR: dataDir, HOME: dataDir, ...databaseOf(dataDir) },
    },
    false,
  );
}

const databaseOf = (dataDir: string): Record<string, string> =>
  flags.database === undefined || !dataDir.endsWith('large')
    ? {}
    : { DATABASE_URL: flags.database, STORAGE_ENCRYPTION_KEY: storageKey };

/** What the processes of the server have used so far, in microseconds. */
function serverCpu(): number {
  if (flags.server === undefined) return 0;
  const ticksOf = (pid: string, fields: readonly number[]): number => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
      if (pid !== flags.server && stat[1] !== flags.server) return 0;
      return fields.reduce((sum, field) => sum + Number(stat[field]), 0);
    } catch {
      return 0;
    }
  };
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== flags.server);
  const ticks = [ticksOf(flags.server, [11, 12, 13, 14]), ...children.map((pid) => ticksOf(pid, [11, 12]))];
  return ticks.reduce((sum, one) => sum + one, 0) * 10_000;
}

interface Session {
  get(path: string): Promise<Response>;
  post(path: string, body: object): Promise<Response>;
}

async function login({ port }: Subject, { made }: Installation): Promise<Session> {
  const url = `http://127.0.0.1:${port}`;
  const basic = Buffer.from(`admin:${made.password}`).toString('base64');
  const reply = await fetch(`${url}/api/auth`, { headers: { authorization: `Basic ${basic}` } });
  const { auth_token: token } = (await reply.json()) as { auth_token: string };
  const headers = { 'x-auth-token': token, 'content-type': 'application/json' };
  return {
    get: (path) => fetch(`${url}${path}`, { headers, signal: AbortSignal.timeout(LONGEST_MS) }),
    post: (path, body) => fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }),
  };
}

/** Nothing is waited for longer. */
const LONGEST_MS = 60_000;
/** What takes longer is measured once. */
const LONG_MS = 5_000;
const DAY_MS = 86_400_000;

function lists(keyId: string): [string, string][] {
  const ago = (days: number) =>
    new Date(Math.floor((Date.now() - days * DAY_MS) / 3_600_000) * 3_600_000).toISOString();
  const [day, month, quarter] = [ago(1), ago(Number(flags.window)), ago(3 * Number(flags.window))];
  const usage = (by: string, from: string, ...more: string[]) => {
    const filters = [`by='${by}'`, `from>='${from}'`, ...more];
    return `/api/usage?expand=resources&${filters.map((one) => `filter[]=${encodeURIComponent(one)}`).join('&')}`;
  };
  const requests = (query: string, ...filters: string[]) =>
    `/api/requests?expand=resources&limit=200${query}${filters.map((one) => `&filter[]=${encodeURIComponent(one)}`).join('')}`;
  const facets = (...filters: string[]) =>
    `/api/request_counts?expand=resources${filters.map((one) => `&filter[]=${encodeURIComponent(one)}`).join('')}`;
  const within = `started_at>=${day}`;
  return [
    ['keys, the first page', '/api/keys?expand=resources&limit=100'],
    ['keys by name, a later page', '/api/keys?expand=resources&limit=100&offset=50000&sort_by=name'],
    [
      'keys of a team',
      `/api/keys?expand=resources&limit=100&filter[]=${encodeURIComponent("team='team-7'")}`,
    ],
    ['keys by last use', '/api/keys?expand=resources&limit=100&sort_by=last_used_at&sort_order=desc'],
    ['connections', '/api/connections?expand=resources'],
    ['combos', '/api/combos?expand=resources'],
    ['models', '/api/models?expand=resources&limit=100'],
    ['budgets', '/api/budgets?expand=resources'],
    ['services', '/api/services?expand=resources&limit=100'],
    ['attention', '/api/attention?expand=resources'],
    ['audit log', '/api/audit?expand=resources&limit=100'],
    ['requests, the first page', requests('')],
    ['requests of a day', requests('', within)],
    ['requests of a day, page 10', requests('&offset=1800', within)],
    ['failed requests of a day', requests('', within, "outcome='failed'")],
    ['requests of a day by duration', requests('&sort_by=duration_ms&sort_order=desc', within)],
    ['requests of one key', requests('', `key_id=='${keyId}'`)],
    ['requests of a month', requests('', `started_at>=${month}`)],
    ['text in requests of a day', requests('', within, "text='error'")],
    ['facets of a day', facets(within)],
    ['facets of a month', facets(`started_at>=${month}`)],
    ['tool runs', '/api/tool_runs?expand=resources&limit=50'],
    ['tool runs of a day', `/api/tool_runs?expand=resources&limit=50&filter[]=${encodeURIComponent(within)}`],
    ['usage by hour, a day', usage('hour', day)],
    ['usage by day, a month', usage('day', month)],
    ['usage by day, three months', usage('day', quarter)],
    ['usage by model, a month', usage('model', month, 'top=100')],
    ['usage by day and model, a month', usage('day,model', month, 'top=5')],
    ['usage by provider, three months', usage('provider', quarter)],
    ['usage by connection, a month', usage('connection', month, 'top=100')],
    ['usage by connection and model, a day', usage('connection,model', day)],
    ['usage by combo, a month', usage('combo', month, 'top=100')],
    ['usage by key, a day', usage('key', day, 'top=100')],
    ['usage by key, a month', usage('key', month, 'top=100')],
    ['usage by team, a month', usage('team', month, 'top=100')],
    ['usage by owner, a month', usage('owner', month, 'top=100')],
    ['usage by tag, a month', usage('tag', month, 'top=100')],
    ['usage by format, outcome, tier: a month', usage('outcome', month)],
    ['usage of one key by model, a month', usage('model', month, `key_id='${keyId}'`)],
  ];
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? 0;
}

function tell(name: string, figure: string): void {
  process.stdout.write(`| ${name} | ${figure} |\n`);
}

async function measureLists(subject: Subject, { get }: Session, { made }: Installation): Promise<void> {
  const keys = (await (await get('/api/keys?limit=2&expand=resources')).json()) as {
    resources: { id: string }[];
  };
  process.stdout.write(
    `\n| ${made.size.requests} requests, ${made.size.keys} keys | p50 | p95 | CPU of one | of the server |\n|---|---|---|---|---|\n`,
  );
  for (const [name, path] of lists(keys.resources[1]?.id ?? '')) {
    if (!name.includes(flags.only)) continue;
    const times: number[] = [];
    let cpu = 0;
    let serverMicros = 0;
    try {
      // The first one warms up.
      for (let round = 0; round <= rounds; round += 1) {
        const [began, before, onServer] = [performance.now(), await subject.cpu(), serverCpu()];
        const reply = await get(path);
        await reply.arrayBuffer();
        const took = performance.now() - began;
        const used = (await subject.cpu()) - before;
        const usedOnServer = serverCpu() - onServer;
        if (!reply.ok) throw new Error(`was answered with ${reply.status}`);
        const long = took > LONG_MS;
        if (round === 0 && !long) continue;
        times.push(took);
        cpu += used;
        serverMicros += usedOnServer;
        if (long) break;
      }
      const each = [cpu, serverMicros].map((micros) => `${(micros / 1_000 / times.length).toFixed(0)} ms`);
      tell(
        name,
        [...[0.5, 0.95].map((share) => `${quantile(times, share).toFixed(0)} ms`), ...each].join(' | '),
      );
    } catch (error) {
      tell(
        name,
        error instanceof Error && error.name === 'TimeoutError' ? `> ${LONGEST_MS} ms` : String(error),
      );
    }
  }
}

async function measureCommands({ dataDir }: Installation): Promise<void> {
  process.stdout.write('\n| command | CPU |\n|---|---|\n');
  for (const command of ['usage', 'usage --by key --top 20', 'logs', 'keys list', 'status']) {
    const args = [flags.main, ...command.split(' '), '--json'];
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: dataDir, HOME: dataDir, ...databaseOf(dataDir) };
    const script = `require('node:child_process').spawnSync(process.execPath, ${JSON.stringify(args)}, { stdio: 'ignore' });
      const { system, user } = readCpu();
      function readCpu() {
        const fields = require('node:fs').readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
        return { user: Number(fields[13]), system: Number(fields[14]) };
      }
      process.stdout.write(String((user + system) * 10));`;
    const { stdout } = await run(process.execPath, ['-e', script], { env, cwd: root });
    tell(`gateway ${command}`, `${stdout} ms`);
  }
}

/** The longest time for which the gateway answered nobody, as `/healthz` has it, and the CPU of a change. */
async function measureChanges(subject: Subject, { post }: Session): Promise<void> {
  let longest = 0;
  let done = false;
  const watch = async () => {
    while (!done) {
      const began = performance.now();
      await (await fetch(`http://127.0.0.1:${subject.port}/healthz`)).arrayBuffer();
      longest = Math.max(longest, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const quiet = watch();
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const idle = longest;
  longest = 0;
  const before = await subject.cpu();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const began = performance.now();
    const reply = await post('/api/keys', { name: `added-${Date.now()}-${round}` });
    await reply.arrayBuffer();
    times.push(performance.now() - began);
  }
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const cpuMs = ((await subject.cpu()) - before) / 1_000;
  done = true;
  await quiet;
  process.stdout.write('\n| adding a key | |\n|---|---|\n');
  tell('p95 until it is answered', `${quantile(times, 0.95).toFixed(0)} ms`);
  tell('longest /healthz meanwhile', `${longest.toFixed(0)} ms (without changes ${idle.toFixed(0)} ms)`);
  tell('CPU of one', `${(cpuMs / rounds).toFixed(0)} ms`);
}

/** So many members of a list, evenly from its beginning to its end. */
function spread<T>(all: readonly T[], count: number): T[] {
  const step = Math.max(1, all.length / count);
  return all.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

interface PathSide extends Side {
  subject: Subject;
  made: FilledInstallation;
}

/** Waits until a gateway does nothing of its own: sums and checks in the background are no part of a request. */
async function quiet(subject: Subject): Promise<void> {
  const until = performance.now() + 1_000 * Number(flags.settle);
  for (let calm = 0; calm < 3 && performance.now() < until; ) {
    const before = await subject.cpu();
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    calm = (await subject.cpu()) - before < QUIET_MICROS ? calm + 1 : 0;
  }
}

/** CPU in two seconds of who does nothing of its own. */
const QUIET_MICROS = 100_000;
/** Requests in one turn: about a second of CPU. */
const TURN_REQUESTS = 4_000;

/** Each side in turns, each request with a random key and a random model or combo. */
async function measurePlan(sides: readonly PathSide[], context: LaneContext, plan: Plan): Promise<void> {
  const turn = async (side: PathSide, count: number) => {
    const { keysFile, targets } = side.made;
    const job = loopJob(side, plan, { connections: 32, seconds: 0, count });
    const models = targets[planName(plan)] ?? [];
    const variety =
      active === null ? { keysFile, models } : { keysFile, keys: active, models: spread(models, active) };
    const { cpuMicros, result } = await measure(side, context, { ...job, variety });
    return cpuMicros / result.completed;
  };
  for (const side of sides) await turn(side, 4 * TURN_REQUESTS);
  const times: number[][] = sides.map(() => []);
  const ratios: number[] = [];
  for (let round = 0; round < 3 * rounds; round += 1) {
    const micros = sides.map(() => 0);
    const order = [...sides.keys()];
    for (const index of round % 2 === 0 ? order : order.toReversed()) {
      const side = sides[index];
      if (side !== undefined) micros[index] = await turn(side, TURN_REQUESTS);
    }
    for (const [index, one] of micros.entries()) times[index]?.push(one);
    ratios.push((micros[1] ?? 0) / (micros[0] ?? 1));
  }
  const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
  const [empty, large] = times.map(middle);
  tell(
    `${plan.request}: CPU per request, empty and large`,
    `${empty?.toFixed(1)} and ${large?.toFixed(1)} µs`,
  );
  const sum = (values: readonly number[] = []) => values.reduce((total, value) => total + value, 0);
  // A turn has a garbage collection or none, so the middle one says little of what all cost.
  tell(`${plan.request}: ratio of the sums`, (sum(times[1]) / sum(times[0])).toFixed(3));
  tell(
    `${plan.request}: ratio, median of ${ratios.length} rounds`,
    `${middle(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
  );
}

async function measurePath(each: Record<'empty' | 'large', Installation>): Promise<void> {
  const started: Subject[] = [];
  const script = (name: string) => new URL(`./${name}.ts`, import.meta.url).pathname;
  try {
    const mock = await startSubject(
      { name: 'the mock', args: [script('mock'), String(MOCK_PORT)], core: 1 },
      false,
    );
    started.push(mock);
    if (mock.port !== MOCK_PORT) throw new Error(`the mock listens on ${mock.port}, not on ${MOCK_PORT}`);
    const loader = await startSubject({ name: 'the load', args: [script('load')], core: 1 }, false);
    started.push(loader);
    const context = {
      load: createLoad(loader.process),
      scale: { rounds, seconds: 1, warmUp: 0, streams: 0, coldStarts: 0 },
    };
    const sides: PathSide[] = [];
    for (const name of ['empty', 'large'] as const) {
      const { made } = each[name];
      const subject = await serve(each[name]);
      started.push(subject);
      const cpu = await subject.cpu();
      await quiet(subject);
      tell(
        `${name}: start, its CPU, that until it is at rest, memory`,
        `${subject.readyMs.toFixed(0)} ms, ${(cpu / 1_000).toFixed(0)} ms, ${((await subject.cpu()) / 1_000).toFixed(0)} ms, ${((await subject.rss()) / 1e6).toFixed(0)} MB`,
      );
      const prefix = 'bench/';
      sides.push({
        made,
        name: 'gateway',
        port: subject.port,
        subject,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${made.key}` },
        modelPrefixes: { chat: prefix, messages: prefix, responses: prefix, gemini: prefix },
        relays: false,
      });
    }
    for (const plan of plans) await measurePlan(sides, context, plan);
  } finally {
    for (const subject of started.reverse()) await subject.stop();
  }
}

async function main(dir: string): Promise<void> {
  const each = await installations(dir);
  if (parts.includes('cli')) await measureCommands(each.large);
  if (parts.includes('lists') || parts.includes('changes')) {
    const subject = await serve(each.large);
    process.stderr.write(`ready after ${subject.readyMs.toFixed(0)} ms\n`);
    try {
      const session = await login(subject, each.large);
      await quiet(subject);
      if (parts.includes('lists')) await measureLists(subject, session, each.large);
      if (parts.includes('changes')) await measureChanges(subject, session);
    } finally {
      await subject.stop();
    }
  }
  if (parts.includes('path')) await measurePath(each);
}

if (flags.dir === undefined) throw new Error('--dir names the folder that keeps the installations');
await main(flags.dir);
