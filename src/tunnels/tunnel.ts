import type { TunnelEvent, TunnelKind } from './kind.ts';
import type { Program } from './program.ts';
import type { TunnelState } from './schema.ts';

/** How a tunnel is just now. Times in milliseconds since the epoch. */
export interface TunnelStatus {
  state: Exclude<TunnelState, 'absent'>;
  url: string | null;
  changedAt: number;
  /** When the program was last started; null while it does not run. */
  startedAt: number | null;
  /** How often the program ended by itself. */
  failures: number;
  error: { message: string; at: number } | null;
}

export interface TunnelInput {
  kind: Pick<TunnelKind, 'reader' | 'programs'>;
  /** Starts the program. @throws GatewayError where it cannot be started */
  run(listen: { onLine(line: string): void; onEnd(how: string): void }): Promise<Program>;
  /** Told of each change of state or address. */
  onChange(): void;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back after so many milliseconds. @returns what calls it off */
  after(ms: number, run: () => void): () => void;
}

export interface Tunnel {
  status(): TunnelStatus;
  /** Starts the program, and again whenever it ends, until it is stopped. Returns at once. */
  start(): void;
  /** Resolves when the program is gone. */
  stop(): Promise<void>;
}

/** Pauses before the program is started again: this, doubled each time, up to a minute. */
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
/** Who was up for so long begins again with the shortest pause. */
const STEADY_MS = 5 * 60_000;

/** Keeps the program of one tunnel running. */
export function createTunnel({ after, onChange, kind, now, run }: TunnelInput): Tunnel {
  let state: TunnelStatus['state'] = 'stopped';
  let url: string | null = null;
  let connected = true;
  let changedAt = now();
  let startedAt: number | null = null;
  let failures = 0;
  let inSuccession = 0;
  let error: TunnelStatus['error'] = null;
  let program: Promise<Program | null> = Promise.resolve(null);
  let callOff = () => {};
  /** Counts the starts, so that what an earlier program still says is nothing. */
  let current = 0;

  const become = (next: typeof state) => {
    state = next;
    changedAt = now();
    onChange();
  };
  const settle = () => {
    const next = url !== null && connected ? 'running' : 'starting';
    if (next !== state) become(next);
  };
  const hear = (news: TunnelEvent | null) => {
    switch (news?.kind) {
      case 'url':
        url = news.url;
        connected = true;
        error = null;
        settle();
        onChange();
        break;
      case 'connected':
        connected = news.connected;
        settle();
        break;
      case 'problem':
        error = { message: news.message, at: now() };
        break;
      case undefined:
        break;
    }
  };
  const failed = (message: string) => {
    if (startedAt !== null && now() - startedAt >= STEADY_MS) inSuccession = 0;
    failures += 1;
    inSuccession += 1;
    url = null;
    startedAt = null;
    // Its own output says more than its exit code.
    error = { message: error?.message ?? message, at: now() };
    const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (inSuccession - 1));
    callOff = after(pause, launch);
    become('waiting');
  };
  const launch = () => {
    current += 1;
    const mine = current;
    const read = kind.reader();
    url = null;
    connected = true;
    error = null;
    startedAt = now();
    become('starting');
    program = run({
      onLine: (line) => mine === current && hear(read(line)),
      onEnd: (how) => mine === current && failed(`${kind.programs[0]}: ${how}`),
    }).catch((cause: unknown) => {
      if (mine === current) failed(cause instanceof Error ? cause.message : String(cause));
      return null;
    });
  };
  return {
    status: () => ({ state, url, changedAt, startedAt, failures, error }),
    start() {
      if (state !== 'stopped') return;
      inSuccession = 0;
      launch();
    },
    async stop() {
      if (state === 'stopped') return;
      current += 1;
      callOff();
      url = null;
      startedAt = null;
      error = null;
      become('stopped');
      await (await program)?.stop();
    },
  };
}
