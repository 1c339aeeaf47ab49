import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolPlace } from '../configuring/configure.ts';
import { locateFiles } from '../detection/locations.ts';
import type { Tool } from '../tool.ts';
import { mendingCommand } from './drift.ts';

/** What is no longer as the gateway wrote it, and the command that mends it. */
export interface ToolDrift {
  entries: readonly string[];
  mend: string;
}

export interface DriftWatchInput {
  place: ToolPlace;
  /** The tool of an id as it is installed; null when there is none. */
  tool(id: string): Promise<Tool | null>;
  /** Address at which this machine reaches the gateway. */
  root(): string;
  /** Told once of each drift, and once when it is over (null). */
  onChange(tool: Tool, drift: ToolDrift | null): void;
}

interface SeenFiles {
  stamp: string;
  drifted: string;
}

/**
 * Looks after the files of the tools that the gateway has set up.
 * @returns what looks at them now: it reads those that have changed since the last time
 */
export function createDriftWatch({ onChange, place, root, tool }: DriftWatchInput): () => Promise<void> {
  const seen = new Map<string, SeenFiles>();
  const look = async (id: string): Promise<void> => {
    const tracked = await tool(id);
    if (tracked === null) return;
    const before = seen.get(id);
    const stamp = await stampOf(tracked, place);
    if (before?.stamp === stamp) return;
    // It brings the parsers of every format, which most gateways never need.
    const { readToolConfig } = await import('../status.ts');
    const config = await readToolConfig(place, tracked, [root()]);
    const drifted = config.drifted.join('\n');
    seen.set(id, { stamp, drifted });
    if (drifted === (before?.drifted ?? '')) return;
    const mend = mendingCommand(id, config);
    onChange(tracked, mend === null ? null : { entries: config.drifted, mend });
  };
  return async () => {
    // A tool without a backup was never written.
    const ids = await readdir(join(place.dataDir, 'tool-backups')).catch(() => []);
    for (const id of ids) await look(id);
  };
}

/** Changes with the tool's files, and with each of the gateway's own writes. */
async function stampOf({ id, recipe }: Tool, { dataDir, machine }: ToolPlace): Promise<string> {
  const backups = await readdir(join(dataDir, 'tool-backups', id)).catch(() => []);
  const files = await locateFiles(recipe, machine);
  const times = files.map(async ({ path }) => {
    const stats = await stat(path).catch(() => null);
    return stats === null ? path : `${path} ${stats.mtimeMs} ${stats.size}`;
  });
  return [...backups.sort().slice(-1), ...(await Promise.all(times))].join('\n');
}
