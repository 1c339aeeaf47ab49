import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { PrivateBroker } from '../support/brokers/server-process.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { delayedPort } from '../support/upstream/delayed-port.ts';
import type { EngineProcess } from './engine-process.ts';
import { createLedger, type LedgerReport, numbered, seeded } from './ledger.ts';
import { growthInTenMinutes, type Sample, smallestOfMinutes } from './trend.ts';

export interface SoakInput {
  readonly dataDir: string;
  /** Each has a channel and a trigger of its own. */
  readonly servers: readonly PrivateBroker[];
  readonly minutes: number;
  readonly perSecond: number;
  readonly seed: number;
}

export interface SoakReport extends LedgerReport {
  readonly faults: number;
  /**
   * What the engine's process grows by in ten minutes, after the first quarter of the time: memory of JavaScript that is in use, which
   * says whether something is never let go; all other memory, which has the allocator's reserves in it; and open files, the fewest in
   * each minute. The whole of the process's memory says little: it has garbage in it that nobody needed the room of yet.
   */
  readonly memoryGrowthMiB: number;
  readonly nativeGrowthMiB: number;
  readonly openFilesGrowth: number;
  /** Memory of JavaScript at the end of the first quarter, and at the end. */
  readonly memoryMiB: readonly [number, number];
}

const SOURCE = 's';
const SAMPLE_MS = 2_000;
const MEBIBYTE = 1_048_576;
const LONGEST_FAULT_MS = 10_000;
const BETWEEN_FAULTS_MS = 10_000;

const yaml = (url: string, channels: readonly string[]) => {
  const each = (line: (index: number, address: string) => string) =>
    channels.map((address, index) => line(index, address)).join('\n');
  return `components:
  channels:
${each((index, address) => `    - {unique_id: c${index}, url: "${address}", mq_topic_name: soak}`)}
  sources:
    - ref: {unique_id: ${SOURCE}, kind: gateway}
  triggers:
${each((index) => `    - ref: {unique_id: t${index}, kind: http, name: "${url}/t${index}"}`)}
strategy:
  source_strategies:
    - {event_source_id: ${SOURCE}, async_send: true, fault_tolerant_storage: {persistence_type: LFS}}
  trigger_strategies:
${each((index) => `    - {event_trigger_id: t${index}, enable_idempotence: true, runtime_strategy: {retry_rule: {retry_max: 1000, back_off_delay: PT0.1S}}}`)}
router_rules:
  routers:
${each((index) => `    - {source_id: ${SOURCE}, trigger_id: t${index}, channel_id: c${index}}`)}
`;
};

/** One engine for a long time, while its servers, its network and its receivers fail in turns. */
export async function runSoak(input: SoakInput): Promise<SoakReport> {
  const { dataDir, minutes, perSecond, seed, servers } = input;
  const random = seeded(seed);
  const ledger = createLedger();
  let refuses = false;
  const receiver = await startEventReceiver((event, path) => {
    if (refuses) return 503;
    ledger.delivered(path.slice(1), event);
    return 204;
  });
  const networks = await Promise.all(servers.map(({ port }) => delayedPort(() => port)));
  const channels = servers.map(({ port, url }, index) =>
    url.replace(`:${port}`, `:${networks[index]?.port}`),
  );
  const program: EngineProcess = {
    dataDir,
    yaml: yaml(receiver.url, channels),
    source: SOURCE,
    first: 1,
    perSecond,
  };
  ledger.sentUpTo(SOURCE, 200);
  const child = spawn(
    process.execPath,
    ['--expose-gc', `${import.meta.dirname}/engine-process.ts`, JSON.stringify(program)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const memory: Sample[] = [];
  const native: Sample[] = [];
  const files: Sample[] = [];
  let started = false;
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const [word, value, other] = line.split(' ');
      if (word === 'started') started = true;
      if (word === 'sent') ledger.sentUpTo(SOURCE, Number(value));
      if (word === 'memory') {
        const at = performance.now();
        memory.push({ at, value: Number(value) / MEBIBYTE });
        native.push({ at, value: Number(other) / MEBIBYTE });
      }
      if (word === 'accepted') ledger.accepted(numbered(SOURCE, Number(value)));
    }
  });
  const sampling = setInterval(() => {
    if (child.exitCode === null) files.push({ at: performance.now(), value: openFiles(child.pid) });
  }, SAMPLE_MS);

  /** One thing that goes wrong for a while, and is well again. */
  const fault = async (): Promise<void> => {
    const index = Math.floor(random() * servers.length);
    const [server, network] = [servers[index], networks[index]];
    assert.ok(server && network);
    const lasts = delay(1_000 + random() * LONGEST_FAULT_MS);
    const kinds: (() => Promise<void>)[] = [
      async () => {
        await server.kill();
        await lasts;
        await server.start();
      },
      async () => {
        server.pause();
        await lasts;
        server.resume();
      },
      async () => {
        network.refuses = true;
        network.cut();
        await lasts;
        network.refuses = false;
      },
      async () => {
        network.silence();
        await lasts;
      },
      async () => {
        network.delayMs = 200;
        await lasts;
        network.delayMs = 0;
      },
      async () => {
        refuses = true;
        await lasts;
        refuses = false;
      },
    ];
    await kinds[Math.floor(random() * kinds.length)]?.();
    await lasts;
  };
  const triggers = servers.map((_, index) => `t${index}`);
  try {
    await waitFor('the engine', () => started);
    const until = performance.now() + minutes * 60_000;
    let faults = 0;
    for (; performance.now() < until; faults += 1) {
      await fault();
      await delay(random() * BETWEEN_FAULTS_MS);
      child.kill('SIGHUP');
    }
    clearInterval(sampling);
    child.kill('SIGUSR2');
    for (const trigger of triggers)
      await waitFor('all accepted events', () => ledger.missing(trigger).length === 0);
    const exited = once(child, 'close');
    child.kill('SIGTERM');
    await exited;
    const later = (samples: readonly Sample[]) => samples.slice(Math.floor(samples.length / 4));
    const rounded = (value: number) => Math.round(value * 10) / 10;
    return {
      ...ledger.report(triggers),
      faults,
      memoryGrowthMiB: rounded(growthInTenMinutes(later(memory))),
      nativeGrowthMiB: rounded(growthInTenMinutes(later(native))),
      openFilesGrowth: rounded(growthInTenMinutes(smallestOfMinutes(later(files)))),
      memoryMiB: [Math.round(later(memory)[0]?.value ?? 0), Math.round(memory.at(-1)?.value ?? 0)],
    };
  } finally {
    clearInterval(sampling);
    child.kill('SIGKILL');
    for (const network of networks) await network.close();
    await receiver.close();
  }
}

const openFiles = (pid: number | undefined): number => readdirSync(`/proc/${pid}/fd`).length;
