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
export function createLog({ level, ...options }: LogOptions): Log {
  const destination: DestinationStream = { write: destinationOf(options) };
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

/** Lines that look like those of the log, for what is logged with each request: they take a fraction of what pino needs. */
export interface LineLog {
  /** Whether lines of this level are written. */
  isOn(level: LineLevel): boolean;
  /** @param members what the line says beside its level and its time; those that are undefined are left out */
  write(level: LineLevel, members: Readonly<Record<string, string | number | undefined>>): void;
  /** Writes whole lines of another process of the gateway, each with its line feed, as they are. */
  relay(lines: string): void;
}

type LineLevel = 'debug' | 'info';

/** Options as for `createLog`. */
export function createLineLog({ level, ...options }: LogOptions): LineLog {
  const { pretty, tee } = options;
  const write = destinationOf(options);
  const timestamp = createTimestamp();
  const isOn = (asked: LineLevel): boolean => level === 'debug' || (level === 'info' && asked === 'info');
  return {
    isOn,
    write(asked, members) {
      if (isOn(asked)) write(`{"level":"${asked}"${timestamp()},${JSON.stringify(members).slice(1)}\n`);
    },
    relay(lines) {
      if (pretty) for (const line of linesOf(lines)) write(line);
      else {
        // Together: a write for each would cost more than all else that is done for a line.
        options.write(lines);
        if (tee !== undefined) for (const line of linesOf(lines)) tee(line);
      }
    },
  };
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${line}\n`);
}

function destinationOf({ pretty, tee = () => {}, write }: Omit<LogOptions, 'level'>): (line: string) => void {
  return (line) => {
    write(pretty ? readable(line) : line);
    tee(line);
  };
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
