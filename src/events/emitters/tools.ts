import type { Emitter } from '../types/emitter.ts';

export interface DetectedTool {
  readonly id: string;
  readonly detection: { readonly installed: boolean; readonly version?: string | undefined };
}

/** Tells of each coding tool that is found on this machine for the first time. */
export function createToolEvents(emitter: Emitter): (found: readonly DetectedTool[]) => void {
  const seenTools = new Set<string>();
  return (found) => {
    for (const { detection, id } of found) {
      if (!detection.installed || seenTools.has(id)) continue;
      seenTools.add(id);
      emitter.emit('tool.detected', { subject: id, data: { tool: id, version: detection.version ?? null } });
    }
  };
}
