import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';

/**
 * Writes at the end of a test file's process what it took of the processors, together with the programs that it started and waited
 * for. Loaded before the file, with `?folder=` where. Nothing is written where there is no /proc.
 */
const folder = new URL(import.meta.url).searchParams.get('folder');
if (folder !== null && isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined)
  process.once('exit', () => {
    const seconds = secondsOf('/proc/self/stat');
    const [, file = ''] = process.argv;
    if (seconds !== null)
      writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify({ file, seconds }));
  });

/** Clock ticks in a second, as Linux tells programs on every platform that Node.js runs on. */
const TICKS = 100;

/** User and system time of a process and of its children that have ended, from proc(5), fields 14 to 17. */
function secondsOf(path: string): number | null {
  try {
    // The name, in brackets, may have spaces.
    const [, fields = ''] = /^.*\) (.*)$/s.exec(readFileSync(path, 'utf8')) ?? [];
    const ticks = fields.split(' ').slice(11, 15).map(Number);
    return ticks.reduce((sum, one) => sum + one, 0) / TICKS;
  } catch {
    return null;
  }
}

/** What a process took. */
export interface ProcessorTime {
  /** What it was started with. */
  file: string;
  seconds: number;
}

/** @returns what the processes have written that have ended, the most first */
export function processorTimes(of: string): ProcessorTime[] {
  return readdirSync(of)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(of, name), 'utf8')) as ProcessorTime)
    .sort((one, other) => other.seconds - one.seconds);
}
