/**
 * Measures the gateway against a bare pass-through and against direct access, on this machine, in one run.
 *   npm run bench -- [--quick] [--lanes a,b] [--rounds N] [--seconds N] [--against DIR] [--config JSON] [--json FILE] [--strict]
 */
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { matchesGlob, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findGateway, type GatewaySetup, modelPrefixes, setUpGateway } from './gateway.ts';
import { createLoad, type Lane, type LaneContext, type Scale, type Side, type SideName } from './lane.ts';
import { lanes } from './lanes/index.ts';
import { planName } from './plan.ts';
import { describeMachine, type Line, lineOf, renderTable } from './report.ts';
import { canPin, type Subject, startSubject } from './subject.ts';

const help = `Usage: npm run bench -- [flags]
  --quick          small samples, under a minute
  --lanes a,b      only these; * stands for any text, and lanes in brackets run only when named:
                   ${lanes.map(({ id, onDemand }) => (onDemand ? `(${id})` : id)).join(', ')}
  --rounds N       interleaved rounds (default 21)
  --seconds N      length of one sample (default 0.5)
  --streams N      streams held open for the memory lane (default 1000)
  --json FILE      also write every sample there
  --from dist|src  which form of the gateway to measure (default: dist/ when it was built)
  --against DIR    measure against the gateway of the checkout at DIR instead of the pass-through
  --config JSON    what else the config.json of the measured gateway says
  --self           measure the pass-through against itself: the noise of this machine
  --profile DIR    write a CPU profile of the gateway there
  --strict         exit with 1 when a target is missed`;

const flags = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    lanes: { type: 'string' },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    streams: { type: 'string' },
    json: { type: 'string' },
    from: { type: 'string' },
    against: { type: 'string' },
    config: { type: 'string' },
    self: { type: 'boolean', default: false },
    profile: { type: 'string' },
    strict: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
}).values;

const loadCore = 1;
const gatewayCore = 0;

/** What an SDK sends: enough headers to be fair to whoever copies them. */
function sdkHeaders(key: string): Record<string, string> {
  return {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'OpenAI/JS 6.49.0',
    'x-stainless-lang': 'js',
    'x-stainless-package-version': '6.49.0',
    'x-stainless-os': 'Linux',
    'x-stainless-arch': 'x64',
    'x-stainless-runtime': 'node',
    'x-stainless-runtime-version': process.version,
    'x-stainless-retry-count': '0',
    authorization: `Bearer ${key}`,
  };
}

function scaleOf(): Scale {
  const number = (name: 'rounds' | 'seconds' | 'streams', fallback: number): number => {
    const value = flags[name] === undefined ? fallback : Number(flags[name]);
    if (!(value > 0)) throw new Error(`--${name} must be a number above 0, not "${flags[name]}"`);
    return value;
  };
  const rounds = Math.ceil(number('rounds', flags.quick ? 2 : 21));
  return {
    rounds,
    seconds: number('seconds', flags.quick ? 0.25 : 0.5),
    // The compiler's last and dearest step comes after about 11,000 requests.
    warmUp: flags.quick ? 300 : 12_000,
    streams: Math.ceil(number('streams', 1_000)),
    coldStarts: flags.quick ? Math.min(rounds, 3) : 10,
  };
}

function chosenLanes(): readonly Lane[] {
  if (flags.lanes === undefined) return lanes.filter(({ onDemand }) => onDemand !== true);
  return flags.lanes.split(',').flatMap((pattern) => {
    const found = lanes.filter(({ id }) => matchesGlob(id, pattern));
    if (found.length === 0)
      throw new Error(`no lane "${pattern}"; there are ${lanes.map((l) => l.id).join(', ')}`);
    return found;
  });
}

interface Rig {
  mock: Subject;
  gateway: GatewaySetup | null;
  /** What `--against` names. */
  older: GatewaySetup | null;
  pin: boolean;
}

async function startSide(name: SideName, { mock, gateway, older, pin }: Rig, lane: Lane): Promise<Side> {
  const setup =
    name === 'gateway' ? gateway : name === 'direct' ? null : (older ?? (lane.againstRelay ? gateway : null));
  const headers = sdkHeaders(setup?.key ?? 'sk-none');
  const bare = { name, headers, modelPrefixes: null, relays: false };
  if (name === 'direct') return { ...bare, port: mock.port, subject: null };
  if (setup === null) {
    const args = [new URL('./passthrough.ts', import.meta.url).pathname, `http://127.0.0.1:${mock.port}`];
    const subject = await startSubject({ name: 'the pass-through', args, core: gatewayCore }, pin);
    return { ...bare, port: subject.port, subject };
  }
  const profiled = name === 'gateway' && flags.profile !== undefined;
  const subject = await startSubject(
    setup.next({
      nodeFlags: profiled ? ['--cpu-prof', `--cpu-prof-dir=${flags.profile}`] : [],
      compiled: lane.compiled !== false,
    }),
    pin,
  );
  const relays = name === 'peer' && older === null;
  return { name, headers, modelPrefixes, relays, port: subject.port, subject };
}

/**
 * How many processes of each side a lane measures one after the other: the compiler makes faster and slower code
 * of the same program, by a quarter from one start to the next, and a process keeps what it got.
 */
const generations = 3;

/** Runs one lane, A B B A …, and gives its lines. */
async function runLane(lane: Lane, rig: Rig, context: LaneContext): Promise<Line[]> {
  const samples = new Map<string, Partial<Record<SideName, number[]>>>(
    lane.rows.map((row) => [row.metric, {}]),
  );
  const rounds = lane.rounds(context.scale);
  const perGeneration = lane.fresh ? 1 : Math.ceil(rounds / generations);
  let standing = new Map<SideName, Side>();
  const stopAll = async () => {
    for (const side of standing.values()) await side.subject?.stop();
    standing = new Map();
  };
  try {
    // The first start of a gateway leaves its compiled code to the others: it is not counted.
    for (let round = lane.fresh ? -1 : 0; round < rounds; round += 1) {
      if (round % perGeneration === 0) await stopAll();
      for (const name of round % 2 === 0 ? lane.sides : lane.sides.toReversed()) {
        let side = standing.get(name);
        if (side === undefined) {
          side = await startSide(name, rig, lane);
          standing.set(name, side);
          if (!lane.fresh) await lane.warmUp?.(side, context);
        }
        const values = await lane.sample(side, context);
        for (const [metric, bySide] of samples) {
          const value = values[metric];
          if (value !== undefined && round >= 0) bySide[name] = [...(bySide[name] ?? []), value];
        }
        if (!lane.fresh) continue;
        await side.subject?.stop();
        standing.delete(name);
      }
    }
  } finally {
    await stopAll();
  }
  return lane.rows.map((row) => lineOf(lane.id, row, samples.get(row.metric) ?? {}));
}

async function main(): Promise<void> {
  const scale = scaleOf();
  const chosen = chosenLanes();
  const pin = canPin() && availableParallelism() > 1;
  const machine = describeMachine();
  const wanted = flags.from === 'dist' || flags.from === 'src' ? flags.from : null;
  const found = flags.self ? null : findGateway(wanted);
  if (found === null && !flags.self)
    throw new Error('there is no gateway to measure: neither dist/ nor src/ has it');
  const against = flags.against === undefined ? null : findGateway(wanted, resolve(flags.against));
  if (against === null && flags.against !== undefined)
    throw new Error(`there is no gateway in ${flags.against}`);
  const script = (name: string) => new URL(`./${name}.ts`, import.meta.url).pathname;
  const mock = await startSubject({ name: 'the mock', args: [script('mock')], core: loadCore }, pin);
  const loader = await startSubject(
    { name: 'the load generator', args: [script('load')], core: loadCore },
    pin,
  );
  const plans = chosen.flatMap((lane) => lane.plans.map(planName));
  const input = { upstreamPort: mock.port, plans, core: gatewayCore };
  const config = JSON.parse(flags.config ?? '{}') as object;
  let gateway: GatewaySetup | null = null;
  let older: GatewaySetup | null = null;
  const lines: Line[] = [];
  const began = performance.now();
  try {
    gateway = found === null ? null : await setUpGateway(found, { ...input, config });
    older = against === null ? null : await setUpGateway(against, input);
    const context: LaneContext = { load: createLoad(loader.process), scale };
    for (const lane of chosen) {
      process.stderr.write(`${lane.id} …\n`);
      const found = await runLane(lane, { mock, gateway, older, pin }, context);
      // A long run that is ended early has not been for nothing.
      for (const { metric, peer, gateway: measured, ratio, unit } of found)
        process.stderr.write(
          `  ${metric}: ${peer.toFixed(1)}, ${measured.toFixed(1)} ${unit}, ${ratio.toFixed(2)}\n`,
        );
      lines.push(...found);
    }
  } finally {
    await loader.stop();
    await mock.stop();
    gateway?.remove();
    older?.remove();
  }
  const seconds = (performance.now() - began) / 1_000;
  const subject = gateway === null ? 'the pass-through itself (--self)' : `${gateway.from}/`;
  console.log(preamble({ machine, pin, subject, stale: gateway?.stale ?? false, scale, seconds }));
  console.log(renderTable(lines, older === null ? 'pass-through' : 'before'));
  if (flags.json) {
    writeFileSync(
      flags.json,
      `${JSON.stringify({ machine, pin, subject, scale, seconds, lines }, null, 2)}\n`,
    );
  }
  if (flags.strict && lines.some((line) => line.verdict === 'MISS')) process.exitCode = 1;
}

interface PreambleFacts {
  machine: ReturnType<typeof describeMachine>;
  pin: boolean;
  subject: string;
  stale: boolean;
  scale: Scale;
  seconds: number;
}

function preamble({ machine, pin, subject, stale, scale, seconds }: PreambleFacts): string {
  const { cores, model, memoryBytes, platform, node, load } = machine;
  return [
    `Machine: ${cores} cores (${model}), ${(memoryBytes / 1e9).toFixed(0)} GB, ${platform}, Node ${node}, load ${load.join(' ')} at the start.`,
    pin
      ? `Pinned: gateway or pass-through to core ${gatewayCore}, mock and load generator to core ${loadCore}.`
      : 'Not pinned: taskset or a second core is missing, so the processes share the cores.',
    `Gateway: ${subject}${stale ? ' — older than src/, run npm run build first' : ''}. Medians of ${scale.rounds} interleaved rounds of ${scale.seconds} s over ${generations} processes of each; the run took ${seconds.toFixed(0)} s.`,
    `${scale.streams} streams in the memory lane; ${scale.coldStarts} cold starts.`,
    '',
  ].join('\n');
}

if (flags.help) console.log(help);
else await main();
