import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, type TestsStream } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { TestProcess } from './processes.ts';
import { type ProcessorTime, processorTimes } from './processor-time.ts';

export interface TestRun {
  /** The folder that test files are relative to. */
  root: string;
  processes: readonly TestProcess[];
  /** Processes at a time. */
  concurrency: number;
  /** A process may take this long, in milliseconds. */
  limitMs: number;
  /** What a file has opened is closed within this time after its last test, in milliseconds. */
  closingMs: number;
}

/** @returns what happens, the files that run together, by the module that runs them, and what each process took that has ended */
export function runTests({ closingMs, concurrency, limitMs, processes, root }: TestRun): {
  events: TestsStream;
  shared: ReadonlyMap<string, readonly string[]>;
  times(): ProcessorTime[];
} {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'tests-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const together = pathToFileURL(join(import.meta.dirname, 'together.ts')).href;
  const endProcess = pathToFileURL(join(import.meta.dirname, 'end-process.ts')).href;
  const time = pathToFileURL(join(import.meta.dirname, 'processor-time.ts')).href;
  const shared = new Map<string, readonly string[]>();
  const files = processes.map((one, index) => {
    if (one.kind === 'alone') return join(root, one.file);
    const entry = join(folder, `${index + 1}.mjs`);
    const input = JSON.stringify({ root, files: one.files, closingMs });
    writeFileSync(entry, `import { runTogether } from '${together}';\nrunTogether(${input});\n`);
    shared.set(entry, one.files);
    return entry;
  });
  const execArgv = [
    `--import=${endProcess}?closing=${closingMs}`,
    `--import=${time}?folder=${encodeURIComponent(folder)}`,
  ];
  const events = run({ files, concurrency, timeout: limitMs, cwd: root, execArgv });
  return { events, shared, times: () => processorTimes(folder) };
}
