/** What the main thread of a page does, by Chromium's own trace: in CPU time, which a busy machine does not lengthen. */
import type { Browser, Page } from 'playwright-core';

/** A task of the main thread: for as long as it runs, the page answers nobody. */
export interface MainTask {
  cpuMs: number;
  /** What was done within it that took a millisecond or more, the longest first: `Layout 12 ms`. */
  parts: readonly string[];
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds since the trace began. */
  ts: number;
  dur?: number;
  /** CPU time of the thread, in microseconds. */
  tdur?: number;
  args?: { name?: string; data?: { functionName?: string; url?: string } };
}

const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline'];
const TOLD = 6;

/**
 * The tasks of a page's main thread while something is done to it, the longest first.
 * @throws Error where Chromium tells no CPU time, which it does on Linux
 */
export async function mainTasks(browser: Browser, page: Page, act: () => Promise<void>): Promise<MainTask[]> {
  await browser.startTracing(page, { categories });
  try {
    await act();
  } catch (error) {
    await browser.stopTracing();
    throw error;
  }
  const text = (await browser.stopTracing()).toString();
  return tasksOf((JSON.parse(text) as { traceEvents: TraceEvent[] }).traceEvents);
}

function tasksOf(events: readonly TraceEvent[]): MainTask[] {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}:${tid}`;
  const mains = new Set(
    events
      .filter(({ args, name }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(threadOf),
  );
  const timed = events.filter((event) => mains.has(threadOf(event)) && event.ph === 'X');
  const tasks = timed.filter(({ name }) => name === 'RunTask');
  if (tasks.length === 0 || tasks.every(({ tdur }) => tdur === undefined))
    throw new Error('the trace of Chromium has no CPU time of tasks');
  return tasks
    .map((task) => ({
      cpuMs: Math.round((task.tdur ?? 0) / 1000),
      parts: timed
        .filter((event) => threadOf(event) === threadOf(task) && event !== task && holds(task, event))
        .filter(({ tdur = 0 }) => tdur >= 1000)
        .sort((a, b) => (b.tdur ?? 0) - (a.tdur ?? 0))
        .slice(0, TOLD)
        .map(
          ({ args, name, tdur = 0 }) => `${args?.data?.functionName ?? name} ${Math.round(tdur / 1000)} ms`,
        ),
    }))
    .sort((a, b) => b.cpuMs - a.cpuMs);
}

function holds(outer: TraceEvent, inner: TraceEvent): boolean {
  return outer.ts <= inner.ts && inner.ts + (inner.dur ?? 0) <= outer.ts + (outer.dur ?? 0);
}
