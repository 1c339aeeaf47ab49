import type { Readable, Writable } from 'node:stream';
import { type Column, table } from './table.ts';
import { type StyleName, styleText } from './text.ts';

/** Everything that reaches or leaves the person or script at the terminal. */
export interface Io {
  /** `--json` was given. */
  readonly json: boolean;
  /** Questions may be asked: stdin and stderr are a terminal that reads keys, and `--non-interactive` was not given. */
  readonly interactive: boolean;
  /** Stdin is a terminal, whether or not anything may be asked. */
  readonly terminal: boolean;
  /** The outcome: the JSON document with `--json`, else the text made by `text`, on stdout. */
  result(document: object, text: () => string): void;
  /** One JSON Lines record with `--json`, else one line of text, on stdout. */
  record(document: object, text: () => string): void;
  /** Progress, advice and warnings, on stderr. */
  note(text: string): void;
  paint(style: StyleName, text: string): string;
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string;
  /** All of stdin as text, without the final line end. */
  readStdin(): Promise<string>;
  readonly ask: Questions;
  /** Resolves when everything printed has left the process. */
  flush(): Promise<void>;
}

/** Questions on the terminal, asked on stderr. Each answer is null when the person cancelled. */
export interface Questions {
  text(question: string, options?: { initial?: string; check?: Check }): Promise<string | null>;
  secret(question: string, options?: { check?: Check }): Promise<string | null>;
  confirm(question: string, initial?: boolean): Promise<boolean | null>;
  choose(question: string, choices: readonly Choice[]): Promise<string | null>;
  chooseMany(question: string, choices: readonly Choice[]): Promise<string[] | null>;
}

export interface Choice {
  value: string;
  label: string;
  hint?: string;
}

/** The sentence to show when an answer is not acceptable, else undefined. */
export type Check = (answer: string) => string | undefined;

/** A stream that may be a terminal. */
type Output = Writable & { isTTY?: boolean; columns?: number; hasColors?: () => boolean };

export interface IoInput {
  json: boolean;
  nonInteractive: boolean;
  /** Whether the terminal hands over single keys, as questions need: one with TERM=dumb does not. */
  readsKeys: boolean;
  stdin: Readable & { isTTY?: boolean };
  stdout: Output;
  stderr: Output;
  /** The reader of stdout went away (`gateway logs | head -1`). */
  onBrokenPipe: () => void;
  /** How the program is called where it is not on the PATH, so that printed commands can be pasted. Default `gateway`. */
  program?: string;
}

export function createIo({
  json,
  nonInteractive,
  readsKeys,
  stdin,
  stdout,
  stderr,
  onBrokenPipe,
  program = 'gateway',
}: IoInput): Io {
  const forPeople = (text: string): string => ended(withProgram(text, program));
  const onError = (then: () => void) => (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    then();
  };
  stdout.on('error', onError(onBrokenPipe));
  // The reader of the notes is gone, which is no reason to stop: a gateway keeps running when its log is closed.
  stderr.on(
    'error',
    onError(() => {}),
  );
  // hasColors honours NO_COLOR, NODE_DISABLE_COLORS, FORCE_COLOR and TERM=dumb.
  const coloured = !json && stdout.isTTY === true && stdout.hasColors?.() === true;
  const paint = (style: StyleName, text: string) => (coloured ? styleText(style, text) : text);
  return {
    json,
    terminal: stdin.isTTY === true,
    interactive: !nonInteractive && readsKeys && stdin.isTTY === true && stderr.isTTY === true,
    result: (document, text) => {
      stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : forPeople(text()));
    },
    record: (document, text) => {
      stdout.write(json ? `${JSON.stringify(document)}\n` : forPeople(text()));
    },
    note: (text) => {
      stderr.write(forPeople(text));
    },
    paint,
    // A program that reads a table needs a line for each row, so only a terminal has a width.
    table: (columns, rows) =>
      table(columns, rows, { paint, width: stdout.isTTY === true ? stdout.columns || null : null }),
    readStdin: () => readAll(stdin),
    ask: questions(stdin, stderr),
    flush: async () => {
      await Promise.all([written(stdout), written(stderr)]);
    },
  };
}

/** Commands stand between back quotes, or begin an indented line; other words of a sentence stay. */
function withProgram(text: string, program: string): string {
  if (program === 'gateway') return text;
  const quoted = text.replace(/`gateway(?=[ `])/g, `\`${program}`);
  return quoted.replace(/^ {2,8}gateway(?= |$)/gm, (start) => start.replace('gateway', program));
}

function ended(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

function written(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

async function readAll(stdin: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of stdin) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

/** The prompt library is imported with the first question, so that no other command pays for it. */
/** More than this are searched by typing. */
const MANY_CHOICES = 20;

function questions(input: Readable, output: Writable): Questions {
  const prompts = () => import('@clack/prompts');
  const streams = { input, output };
  return {
    text: async (message, { initial, check } = {}) => {
      const { text, isCancel } = await prompts();
      const answer = await text({
        message,
        ...streams,
        ...(initial === undefined ? {} : { initialValue: initial }),
        validate: (value) => check?.(value ?? ''),
      });
      return isCancel(answer) ? null : (answer ?? '');
    },
    secret: async (message, { check } = {}) => {
      const { password, isCancel } = await prompts();
      // Nobody sees what stands there, so a refused secret is typed anew, not added to.
      const answer = await password({
        message,
        ...streams,
        validate: (value) => check?.(value ?? ''),
        clearOnError: true,
      });
      return isCancel(answer) ? null : (answer ?? '');
    },
    confirm: async (message, initial = false) => {
      const { confirm, isCancel } = await prompts();
      const answer = await confirm({ message, ...streams, initialValue: initial });
      return isCancel(answer) ? null : answer;
    },
    choose: async (message, choices) => {
      const { autocomplete, select, isCancel } = await prompts();
      const prompt = { message, ...streams, options: [...choices], maxItems: 12 };
      const answer =
        choices.length > MANY_CHOICES
          ? await autocomplete({ ...prompt, placeholder: 'type to search' })
          : await select(prompt);
      return isCancel(answer) ? null : answer;
    },
    chooseMany: async (message, choices) => {
      const { multiselect, isCancel } = await prompts();
      const answer = await multiselect({ message, ...streams, options: [...choices], required: false });
      return isCancel(answer) ? null : answer;
    },
  };
}
