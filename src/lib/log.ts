import pino, { type DestinationStream, type Logger } from 'pino';

export type Log = Logger;

export interface LogOptions {
  level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Where whole lines go. */
  write(line: string): void;
  /** Readable lines for a terminal instead of JSON. */
  pretty: boolean;
  /** Gets each line too, always as JSON. */
  tee?(line: string): void;
}

/** The process's own log: JSON lines as pino writes them, or short readable ones. It never carries a key or a body. */
export function createLog({ level, pretty, tee = () => {}, write }: LogOptions): Log {
  const destination: DestinationStream = {
    write(line) {
      write(pretty ? readable(line) : line);
      tee(line);
    },
  };
  return pino(
    {
      level,
      base: null,
      timestamp: createTimestamp(),
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
}

/** pino's ISO time, written once for all lines of a millisecond. */
function createTimestamp(): () => string {
  let at = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== at) {
      at = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}

function readable(line: string): string {
  const { level, time, msg, ...rest }: Record<string, unknown> = JSON.parse(line);
  const extra = Object.entries(rest).map(
    ([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return `${String(time).slice(11, 19)} ${String(level).padEnd(5)} ${msg}${extra.length > 0 ? `  ${extra.join(' ')}` : ''}\n`;
}

/** An error for the log: where it came from, as far as that is known. */
export function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
