import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { counter, gauge, type MetricFamily } from './family.ts';
import { createHistogram, type Histogram } from './histogram.ts';

/** Figures of this process, under the names that Prometheus's own client libraries give them. */
export interface ProcessMetrics {
  families(): MetricFamily[];
  close(): void;
}

/** How often the delay of the event loop is measured. */
const LOOP_RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

/** Delay of the event loop and work of the garbage collector are measured from the first scrape on: nobody pays for figures that are not read. */
export function createProcessMetrics(): ProcessMetrics {
  let observers: Observers | null = null;
  return {
    families() {
      const isFirst = observers === null;
      observers ??= observe();
      return [
        ...usageFamilies(),
        ...(isFirst ? [] : loopFamilies(observers.delay)),
        gcFamily(observers.collections),
      ];
    },
    close() {
      observers?.delay.disable();
      observers?.collector.disconnect();
      observers = null;
    },
  };
}

interface Observers {
  delay: ReturnType<typeof monitorEventLoopDelay>;
  collector: PerformanceObserver;
  /** Durations by the kind of a collection, in seconds. */
  collections: Map<string, Histogram>;
}

interface CollectionEntry extends PerformanceEntry {
  detail: { kind: number };
}

const collectionBounds = [0.001, 0.01, 0.1, 1, 2, 5] as const;

/** V8's numbers for the kinds of a collection (`perf_hooks.constants`). */
const collectionKinds: Readonly<Record<number, string>> = {
  1: 'minor',
  4: 'major',
  8: 'incremental',
  16: 'weakcb',
};

function observe(): Observers {
  const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  delay.enable();
  const collections = new Map<string, Histogram>();
  const collector = new PerformanceObserver((list) => {
    // Node's types do not know the entries of garbage collections.
    for (const { detail, duration } of list.getEntries() as CollectionEntry[]) {
      const kind = collectionKinds[detail.kind] ?? 'other';
      const collection = collections.get(kind) ?? createHistogram(collectionBounds);
      collections.set(kind, collection);
      collection.observe(duration / 1000);
    }
  });
  collector.observe({ entryTypes: ['gc'] });
  return { delay, collector, collections };
}

function usageFamilies(): MetricFamily[] {
  const usage = process.resourceUsage();
  const { arrayBuffers, external, heapTotal, heapUsed, rss } = process.memoryUsage();
  const userSeconds = usage.userCPUTime / MICROSECONDS;
  const systemSeconds = usage.systemCPUTime / MICROSECONDS;
  const descriptors = openDescriptors();
  return [
    counter('process_cpu_user_seconds', 'User CPU time', userSeconds, 'seconds'),
    counter('process_cpu_system_seconds', 'System CPU time', systemSeconds, 'seconds'),
    counter('process_cpu_seconds', 'User and system CPU time', userSeconds + systemSeconds, 'seconds'),
    gauge(
      'process_start_time_seconds',
      'When the process started, in seconds since the epoch',
      performance.timeOrigin / 1000,
      'seconds',
    ),
    gauge('process_resident_memory_bytes', 'Resident memory', rss, 'bytes'),
    ...(descriptors === null ? [] : [gauge('process_open_fds', 'Open file descriptors', descriptors)]),
    ...maxDescriptors(),
    gauge('nodejs_heap_size_used_bytes', 'JavaScript heap in use', heapUsed, 'bytes'),
    gauge('nodejs_heap_size_total_bytes', 'JavaScript heap', heapTotal, 'bytes'),
    gauge(
      'nodejs_heap_size_limit_bytes',
      'What the JavaScript heap may grow to',
      getHeapStatistics().heap_size_limit,
      'bytes',
    ),
    gauge('nodejs_external_memory_bytes', 'Memory outside the heap that objects hold', external, 'bytes'),
    gauge(
      'nodejs_array_buffers_bytes',
      'Memory of array buffers, a part of the external',
      arrayBuffers,
      'bytes',
    ),
    counter(
      'nodejs_eventloop_active_seconds',
      'How long the event loop did something instead of waiting',
      performance.eventLoopUtilization().active / 1000,
      'seconds',
    ),
    {
      name: 'nodejs_version_info',
      type: 'gauge',
      help: 'The version of Node.js',
      points: [{ labels: { version: process.version }, value: 1 }],
    },
  ];
}

/** The delay of the event loop since the last scrape; the timer's own interval is not counted. */
function loopFamilies(delay: ReturnType<typeof monitorEventLoopDelay>): MetricFamily[] {
  const seconds = (nanoseconds: number) =>
    Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / NANOSECONDS - LOOP_RESOLUTION_MS / 1000) : 0;
  const since = 'of the event loop since the last scrape';
  const families = [
    gauge('nodejs_eventloop_lag_mean_seconds', `Mean delay ${since}`, seconds(delay.mean), 'seconds'),
    gauge(
      'nodejs_eventloop_lag_p50_seconds',
      `Median delay ${since}`,
      seconds(delay.percentile(50)),
      'seconds',
    ),
    gauge(
      'nodejs_eventloop_lag_p99_seconds',
      `99th percentile of the delay ${since}`,
      seconds(delay.percentile(99)),
      'seconds',
    ),
    gauge(
      'nodejs_eventloop_lag_max_seconds',
      `Longest delay ${since}`,
      seconds(delay.count === 0 ? 0 : delay.max),
      'seconds',
    ),
  ];
  delay.reset();
  return families;
}

function gcFamily(collections: ReadonlyMap<string, Histogram>): MetricFamily {
  return {
    name: 'nodejs_gc_duration_seconds',
    type: 'histogram',
    unit: 'seconds',
    help: 'Garbage collections, by kind, since the first scrape',
    bounds: collectionBounds,
    points: [...collections].map(([kind, histogram]) => histogram.point({ kind })),
  };
}

/** Null where the system has no such folder. */
function openDescriptors(): number | null {
  try {
    // The one that reads the folder is not counted.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return null;
  }
}

function maxDescriptors(): MetricFamily[] {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined
      ? []
      : [gauge('process_max_fds', 'How many file descriptors may be open', Number(soft))];
  } catch {
    return [];
  }
}
