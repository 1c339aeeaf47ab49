import type { Context } from './context.ts';
import type { ChildEnd, ExitCode } from './terminal/exit-code.ts';

/** Names that shell completion looks up. */
export type ValueKind = 'key' | 'connection' | 'combo' | 'alias' | 'user' | 'provider' | 'model';

export interface Argument {
  name: string;
  summary: string;
  required: boolean;
  /** The only values allowed; offered by shell completion. */
  choices?: readonly string[];
  /** Values that shell completion offers, where the command itself checks other values. */
  suggestions?: readonly string[];
  /** What it names, for shell completion. */
  names?: ValueKind;
  /** Takes all words that are left, read with `options.rest`; flags of another program stand behind `--`. */
  rest?: boolean;
}

export interface Flag {
  /** Without dashes. A name that starts with `no-` is on when given, like every other switch. */
  name: string;
  short?: string;
  /** What the value is called in the help. A flag without it is a switch. */
  value?: string;
  /**
   * `count`: a whole number of at least 0, read with `options.count`. `list`: may be repeated, read with
   * `options.texts`. Text otherwise.
   */
  kind?: 'count' | 'list';
  choices?: readonly string[];
  /** What it names, for shell completion. */
  names?: ValueKind;
  summary: string;
}

export interface Example {
  command: string;
  does: string;
}

/** What was given on the command line. Asking for a flag that the command does not declare is a programming error. */
export interface Options {
  argument(name: string): string | undefined;
  /** The words of an argument that takes all that are left. */
  rest(name: string): readonly string[];
  text(flag: string): string | undefined;
  /** Every value of a flag that may be repeated, in order. */
  texts(flag: string): readonly string[];
  count(flag: string): number | undefined;
  on(flag: string): boolean;
}

/** One command of the program, as data. Its name and summary stand in `commands/index.ts`. */
export interface Command {
  arguments: readonly Argument[];
  flags: readonly Flag[];
  /**
   * `nothing`: runs anywhere. `store`: reads or writes the data directory, whether or not a gateway runs.
   * `server`: refused with exit 3 unless a gateway runs on this data directory.
   */
  needs: 'nothing' | 'store' | 'server';
  /** More to say below the summary in `--help`. */
  about?: string;
  examples: readonly Example[];
  /** @param commands every command of the program */
  run(options: Options, context: Context, commands: readonly CommandEntry[]): Promise<ExitCode | ChildEnd>;
}

/** A row of the command list. `name` has one word or two (`keys add`); the file is imported only when chosen. */
export interface CommandEntry {
  name: string;
  summary: string;
  load: () => Promise<Command>;
}

/** Flags that every command takes. */
export const commonFlags: readonly Flag[] = [
  { name: 'json', summary: 'print one JSON document on stdout and nothing else there' },
  { name: 'data-dir', value: 'DIR', summary: 'where the gateway keeps its state (env DATA_DIR)' },
  { name: 'port', value: 'N', summary: 'port of the gateway (env GATEWAY_PORT, default 20128)' },
  { name: 'no-open', summary: 'do not open a browser' },
  { name: 'non-interactive', summary: 'never ask anything, even on a terminal' },
];
