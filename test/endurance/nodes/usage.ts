import { setTimeout as delay } from 'node:timers/promises';
import { type GatewayNode, usedBy } from '../../support/gateway/gateway-node.ts';
import { growthInTenMinutes, type Sample, smallestOfMinutes } from '../trend.ts';

const SAMPLE_MS = 2_000;

export interface ProcessReport {
  /** Open files before the load, and when it has nothing to do any more. */
  readonly files: readonly [number, number];
  /** By how much the least resident memory of the second half exceeds that of the first, in MiB. */
  readonly residentGrowthMiB: number;
  /** In ten minutes, of the smallest of each minute. */
  readonly fileGrowth: number;
}

/** What the processes of a gateway have at rest: in a minute idle connections are closed, of which the fewest count. */
export async function processReports(
  node: GatewayNode | undefined,
  filesBefore: readonly number[],
  { processes }: Samples,
): Promise<ProcessReport[]> {
  const pids = node?.pids() ?? [];
  const fewest = pids.map(() => Number.POSITIVE_INFINITY);
  for (let second = 0; second < 60; second += 1) {
    for (const [index, pid] of pids.entries())
      fewest[index] = Math.min(fewest[index] ?? 0, usedBy(pid)?.openFiles ?? Number.POSITIVE_INFINITY);
    await delay(1_000);
  }
  return pids.map((pid, index) => {
    const of = processes.get(pid) ?? { resident: [], files: [] };
    return {
      files: [filesBefore[index] ?? 0, fewest[index] ?? 0],
      residentGrowthMiB: floorGrowth(of.resident),
      fileGrowth: growthOf(of.files),
    };
  });
}

/** Without the first quarter, in which memory is still being filled. */
const settled = (samples: readonly Sample[]) => samples.slice(Math.floor(samples.length / 4));

export function growthOf(samples: readonly Sample[]): number {
  return rounded(growthInTenMinutes(smallestOfMinutes(settled(samples))));
}

/**
 * By how much the least value of the second half exceeds that of the first. Memory is given back at a full collection of the heap
 * alone, every few minutes, so that a line through all its samples says when the last one was, and not whether anything is left.
 */
function floorGrowth(samples: readonly Sample[]): number {
  const values = settled(samples).map(({ value }) => value);
  const middle = Math.ceil(values.length / 2);
  const growth = Math.min(...values.slice(middle)) - Math.min(...values.slice(0, middle));
  return Number.isFinite(growth) ? rounded(growth) : 0;
}

const rounded = (value: number): number => Math.round(value * 10) / 10;

/** What the process that was started says of its memory, in MiB. */
const memoryMetrics = {
  used: 'nodejs_heap_size_used_bytes',
  heap: 'nodejs_heap_size_total_bytes',
  external: 'nodejs_external_memory_bytes',
} as const;

type MemoryKind = keyof typeof memoryMetrics;

const memoryKinds = Object.keys(memoryMetrics) as MemoryKind[];

/** The least of each minute, as a table: to see whether memory levels off, or in what it grows. */
export function memoryTable(pid: number | undefined, { memory, processes }: Samples): string[] {
  const byMinutes = (samples: readonly Sample[]) =>
    smallestOfMinutes(samples).map(({ value }) => Math.round(value).toString());
  const resident = pid === undefined ? [] : (processes.get(pid)?.resident ?? []);
  return [
    `resident ${byMinutes(resident).join(' ')}`,
    ...memoryKinds.map((kind) => `${kind} ${byMinutes(memory[kind]).join(' ')}`),
  ];
}

export interface Samples {
  readonly memory: Readonly<Record<MemoryKind, Sample[]>>;
  /** By the id of the process. */
  readonly processes: ReadonlyMap<number, { readonly resident: Sample[]; readonly files: Sample[] }>;
}

export function startSampling(node: GatewayNode | undefined) {
  const memory: Record<MemoryKind, Sample[]> = { used: [], heap: [], external: [] };
  const processes = new Map<number, { resident: Sample[]; files: Sample[] }>();
  const sample = async () => {
    const at = performance.now();
    for (const pid of node?.pids() ?? []) {
      const used = usedBy(pid);
      if (used === null) continue;
      const of = processes.get(pid) ?? { resident: [], files: [] };
      processes.set(pid, of);
      of.files.push({ at, value: used.openFiles });
      of.resident.push({ at, value: used.residentBytes / 1_048_576 });
    }
    const reply = await node?.manage('GET', '/metrics').catch(() => null);
    for (const kind of memoryKinds) {
      const [, bytes] = new RegExp(`^${memoryMetrics[kind]} (\\d+)`, 'm').exec(reply?.text ?? '') ?? [];
      if (bytes !== undefined) memory[kind].push({ at, value: Number(bytes) / 1_048_576 });
    }
  };
  const timer = setInterval(() => void sample().catch(() => {}), SAMPLE_MS);
  return {
    end(): Samples {
      clearInterval(timer);
      return { memory, processes };
    },
  };
}
