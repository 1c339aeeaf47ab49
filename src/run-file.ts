import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** What a running gateway leaves for the commands of the same user: where it listens, and a key for its model endpoints. */
const runFile = z.object({
  pid: z.int(),
  host: z.string(),
  port: z.int(),
  url: z.string(),
  version: z.string(),
  started_at: z.string(),
  key: z.string(),
});

export type RunFile = z.infer<typeof runFile>;

/** Writes `DATA_DIR/run.json` whole, readable by its owner only. Returns its path. */
export function writeRunFile(dataDir: string, content: RunFile): string {
  const path = join(dataDir, 'run.json');
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
  return path;
}

/** The run file of a data directory, or null when there is none that can be read. It may be stale. */
export function readRunFile(dataDir: string): RunFile | null {
  try {
    return runFile.parse(JSON.parse(readFileSync(join(dataDir, 'run.json'), 'utf8')));
  } catch {
    return null;
  }
}
