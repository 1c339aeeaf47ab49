import type { Config } from '../config.ts';
import type { OnClose } from '../lib/closers.ts';
import type { LineLog, Log } from '../lib/log.ts';
import type { ProcessControl } from '../services/process-resource.ts';

/** What a gateway is opened with. */
export interface OpenInput {
  config: Config;
  log: Log;
  /** Gets a line for each request; null for none. */
  accessLog: LineLog | null;
  version: string;
  /** What may be done to this process through the management API; null for nothing. */
  processControl: ProcessControl | null;
  /** Ends a start that waits for a server that is away. */
  signal?: AbortSignal;
  /** Is given who shows lines of the log. */
  onLive(listener: (line: string) => void): void;
  /** Parts close in the reverse order of their opening. */
  onClose: OnClose;
}
