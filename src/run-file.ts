import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

/** What a running gateway leaves for the commands of the same user: where it listens, and a key for its model endpoints. */
const runFile = z.object({
  pid: z.int().positive(),
  host: z.string(),
  port: z.int(),
  url: z.url(),
  version: z.string(),
  /** ISO 8601. */
  started_at: z.string(),
  /** Works from loopback only, and for as long as that process lives. */
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

/**
 * The run file of a data directory, or null when there is none. It may be stale: its gateway may have been killed.
 * @throws the system's error when there is one that may not be read
 */
export function readRunFile(dataDir: string): RunFile | null {
  let text: string;
  try {
    text = readFileSync(join(dataDir, 'run.json'), 'utf8');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  try {
    return runFile.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    // A file cut short by a crash says as much as no file: its gateway is gone.
    return null;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
