import type { z } from 'zod';
import type { Check, Endpoint, ServiceOptions, ServiceState, serviceKind } from './schema.ts';

/** How a part of the gateway is just now. Times in milliseconds since the epoch. */
export interface PartStatus {
  desired: 'running' | 'stopped';
  state: ServiceState;
  reason: { code: string; message: string } | null;
  /** Null where it is not recorded. */
  changedAt: number | null;
  startedAt: number | null;
  error: { code: string; message: string; at: number | null } | null;
}

/** How a part is started and stopped. */
export interface LifeCycle {
  /** Whether stopping it cuts callers off, so that it has to be confirmed. */
  confirm: boolean;
  /** Whether there is anything in starting it anew. */
  restarts: boolean;
  /** Requests under way that stopping would touch; null where they are not its own. */
  openRequests(): number | null;
  start(): Promise<void>;
  /**
   * Resolves once it is stopped.
   * @param ms how long what is open may finish; undefined for the usual time
   * @param again whether it is started again right after
   * @returns how many requests were ended before they were done
   */
  stop(ms: number | undefined, again: boolean): Promise<{ interrupted: number }>;
}

/** What a test of a part came to. */
export interface Probe {
  valid: boolean;
  message: string;
  result: Record<string, unknown>;
}

/** One part of the gateway, as the collection of services shows and moves it. */
export interface Part {
  /** What its record is kept under; never that of another part. */
  key: string;
  /** What it is called in paths. */
  id: string;
  name: string;
  description: string;
  kind: z.infer<typeof serviceKind>;
  critical: boolean;
  /** Ids of the parts that it cannot do without. */
  dependsOn: readonly string[];
  version: string | null;
  /** Whose permissions are needed as well, and to see why something failed: `connections`. */
  domain?: 'connections' | 'tunnels' | 'agents';
  status(): PartStatus;
  /** Looks now. Must not wait for anyone. */
  checks(): Check[];
  endpoints(): Endpoint[];
  /** What may be set of it, with what is in force where nothing is set. */
  options?: ServiceOptions;
  /** None for what runs as long as the process, or does not run at all. */
  lifeCycle?: LifeCycle;
  /** Reads its settings anew. @returns what it came to */
  reload?(): Promise<string>;
  /** Takes it away for ever, where it was created over the API. False when it was gone already. */
  remove?(): Promise<boolean>;
  /** Tries it, where looking is not enough. */
  probe?(): Promise<Probe>;
}

/** A part that runs from the start of the process to its end. */
export function alwaysRunning(since: number): PartStatus {
  return {
    desired: 'running',
    state: 'running',
    reason: null,
    changedAt: since,
    startedAt: since,
    error: null,
  };
}

export function iso(ms: number): string {
  return new Date(ms).toISOString();
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms);
}
