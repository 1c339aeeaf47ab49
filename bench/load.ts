/**
 * The load generator, in a process of its own, told what to do over IPC. On bare sockets, one per connection,
 * so that it can outrun what it measures. Every byte of every answer is compared with what the plan says.
 */
import { readFileSync } from 'node:fs';
import { createRandom } from '../src/cli/demo-data/random.ts';
import { jsonAnswer, streamFrames } from './answer-body.ts';
import { type Expectation, openConnection } from './client.ts';
import { isTranslated, type Plan, parsePlan } from './plan.ts';
import { requestBody } from './request-body.ts';

interface JobBase {
  port: number;
  path: string;
  headers: Readonly<Record<string, string>>;
  /** The plan's name; `model` is the same behind whatever prefix the gateway wants. */
  plan: string;
  model: string;
}

/** Every connection sends its next request when the last was answered, until `seconds` are over or `count` are sent. */
export interface LoopJob extends JobBase {
  kind: 'loop';
  connections: number;
  seconds: number;
  count?: number;
  /** Milliseconds over which the first requests are spread. */
  spreadMs?: number;
  /** Each request has another key and asks for another model; default: the same always. */
  variety?: Variety;
}

/** What requests choose from, each by itself and at random, but the same in each run. */
export interface Variety {
  /** The file that has the texts of the keys, one in a line. */
  keysFile: string;
  /** How many of them are used, the last ones: the first have budgets in a large installation. Default: all. */
  keys?: number;
  /** Ids for which the mock answers by the plan of the job. */
  models: readonly string[];
}

/** Opens `streams` streams, reports when each has its first frame, and holds them until released. */
export interface HoldJob extends JobBase {
  kind: 'hold';
  streams: number;
}

export type LoadMessage = LoopJob | HoldJob | { kind: 'release' };

export interface Quantiles {
  p50: number;
  p99: number;
}

export interface LoopResult {
  kind: 'loop';
  completed: number;
  failed: number;
  /** Different reasons of the first failures. */
  reasons: string[];
  seconds: number;
  /** SSE frames of completed streams. */
  frames: number;
  /** Microseconds from the first byte sent to the last received, and to the first byte of the body. */
  latency: Quantiles;
  firstByte: Quantiles;
}

export interface HoldResult {
  kind: 'held';
  open: number;
  failed: number;
  reasons: string[];
}

interface Tally {
  completed: number;
  failed: number;
  reasons: Set<string>;
  latencies: number[];
  firstBytes: number[];
}

/** Jobs with variety up to now: each draws other keys. */
let jobs = 0;

/** Says what the next request is. */
function chooser(job: LoopJob): () => Expectation {
  const { plan: name, variety } = job;
  const same = expectation(job);
  const plan = parsePlan(name);
  if (variety === undefined || plan === null) return () => same;
  const keys = readFileSync(variety.keysFile, 'utf8')
    .trim()
    .split('\n')
    .slice(-(variety.keys ?? 0));
  jobs += 1;
  const random = createRandom(jobs);
  const named = (bytes: Buffer, model: string) =>
    Buffer.from(bytes.toString().replace(JSON.stringify(name), JSON.stringify(model)));
  const [asked, answered] = [requestBody(plan, name), same.body === null ? null : wholeAnswer(plan, name)];
  const bodies = variety.models.map((model) => ({
    request: named(asked, model),
    answer: answered && named(answered, model),
  }));
  return () => {
    const body = random.pick(bodies);
    const authorization = `Bearer ${random.pick(keys)}`;
    const head = headOf({ ...job, headers: { ...job.headers, authorization } }, body.request.length);
    return { ...same, request: Buffer.concat([head, body.request]), body: body.answer };
  };
}

function headOf({ headers, path, port }: JobBase, length: number): Buffer {
  const all = { host: `127.0.0.1:${port}`, ...headers, 'content-length': String(length) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
}

function wholeAnswer(plan: Plan, model: string): Buffer {
  return plan.kind === 'json' ? jsonAnswer(plan, model) : Buffer.concat(streamFrames(plan, model));
}

function expectation(job: JobBase): Expectation {
  const plan = parsePlan(job.plan);
  if (plan === null) throw new Error(`no such plan: ${job.plan}`);
  const body = requestBody(plan, job.model);
  const request = Buffer.concat([headOf(job, body.length), body]);
  if (plan.kind === 'json')
    return { request, body: isTranslated(plan) ? null : jsonAnswer(plan, job.model), frames: 0 };
  const frames = streamFrames(plan, job.model);
  return { request, body: isTranslated(plan) ? null : Buffer.concat(frames), frames: frames.length };
}

function fail(tally: Tally, reason: string): void {
  tally.failed += 1;
  if (tally.reasons.size < 5) tally.reasons.add(reason);
}

async function loop(job: LoopJob): Promise<LoopResult> {
  const choose = chooser(job);
  const { frames } = expectation(job);
  const tally: Tally = { completed: 0, failed: 0, reasons: new Set(), latencies: [], firstBytes: [] };
  const start = performance.now();
  const deadline = start + job.seconds * 1_000;
  let sent = 0;

  function one(index: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const connection = openConnection(job.port);
    function next(): void {
      const more =
        job.count === undefined ? performance.now() < deadline || sent < job.connections : sent < job.count;
      if (!more || tally.failed > 20) {
        connection.close();
        resolve();
        return;
      }
      sent += 1;
      const began = performance.now();
      connection.send(
        {
          firstByte: () => tally.firstBytes.push((performance.now() - began) * 1_000),
          done(failure) {
            if (failure === null) {
              tally.completed += 1;
              tally.latencies.push((performance.now() - began) * 1_000);
              next();
            } else {
              fail(tally, failure);
              connection.close();
              resolve(tally.failed > 20 ? undefined : one(index));
            }
          },
        },
        choose(),
      );
    }
    setTimeout(next, ((job.spreadMs ?? 0) * index) / job.connections);
    return promise;
  }

  await Promise.all(Array.from({ length: job.connections }, (_, index) => one(index)));
  return {
    kind: 'loop',
    completed: tally.completed,
    failed: tally.failed,
    reasons: [...tally.reasons],
    seconds: (performance.now() - start) / 1_000,
    frames: tally.completed * frames,
    latency: quantiles(tally.latencies),
    firstByte: quantiles(tally.firstBytes),
  };
}

/** Streams open 200 at a time, so that no listen queue overflows. */
async function hold(job: HoldJob, released: Promise<void>): Promise<HoldResult> {
  const expected = expectation(job);
  const tally: Tally = { completed: 0, failed: 0, reasons: new Set(), latencies: [], firstBytes: [] };
  const open: { close(): void }[] = [];
  for (let from = 0; from < job.streams; from += 200) {
    const batch = Array.from({ length: Math.min(200, job.streams - from) }, () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const connection = openConnection(job.port);
      open.push(connection);
      connection.send(
        {
          firstByte: resolve,
          done(failure) {
            fail(tally, failure ?? 'the stream ended while it was to be held');
            resolve();
          },
        },
        expected,
      );
      return promise;
    });
    await Promise.all(batch);
  }
  const result = () => ({
    open: open.length - tally.failed,
    failed: tally.failed,
    reasons: [...tally.reasons],
  });
  process.send?.({ kind: 'held', ...result() } satisfies HoldResult);
  await released;
  for (const connection of open) connection.close();
  return { kind: 'held', ...result() };
}

function quantiles(values: number[]): Quantiles {
  const sorted = values.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

let release: () => void = () => undefined;
process.on('message', (message: LoadMessage) => {
  if (message.kind === 'release') {
    release();
    return;
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  release = resolve;
  const result = message.kind === 'loop' ? loop(message) : hold(message, promise);
  void result.then((value) => process.send?.(value));
});
process.on('disconnect', () => process.exit(0));
console.log('listening on ipc');
