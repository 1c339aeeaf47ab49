import { randomBytes } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Exit, type Program, startProgram } from '../process/child.ts';
import type { CreateTerminal } from '../protocol/schema.ts';
import { isInside, OutsideError } from './confined-path.ts';

/** Terminals of a session at a time. */
const maxTerminals = 16;
/** Bytes of output that are kept where the agent names no limit, and at most. */
const DEFAULT_OUTPUT = 1024 * 1024;
const MAX_OUTPUT = 8 * 1024 * 1024;
/** How long a command may take to end when it is killed, in milliseconds. */
const GRACE_MS = 1000;

export class TooManyTerminalsError extends Error {
  constructor() {
    super(`A session has ${maxTerminals} terminals at most: release one`);
    this.name = 'TooManyTerminalsError';
  }
}

interface Terminal {
  program: Program;
  exit: Exit | null;
  output: TailBuffer;
}

export interface TerminalOutput {
  output: string;
  truncated: boolean;
  exitStatus: { exitCode: number | null; signal: string | null } | null;
}

/** The commands that the agent of one session runs through the gateway. */
export interface Terminals {
  /** @throws OutsideError, TooManyTerminalsError */
  create(request: CreateTerminal): Promise<{ terminalId: string }>;
  /** What a terminal printed so far; null for one that there is not. */
  output(id: string): TerminalOutput | null;
  /** Resolves when its command has ended; null for a terminal that there is not. */
  waitForExit(id: string): Promise<NonNullable<TerminalOutput['exitStatus']>> | null;
  /** Ends its command. False for a terminal that there is not. */
  kill(id: string): boolean;
  /** Ends its command and forgets it. */
  release(id: string): boolean;
  /** Ends all commands. Resolves when they are gone. */
  close(): Promise<void>;
}

/**
 * @param root the folder of the session, without symbolic links: commands start there or below
 * @param environment what commands get beside what the agent names
 */
export function createTerminals(root: string, environment: Readonly<Record<string, string>>): Terminals {
  const terminals = new Map<string, Terminal>();
  const stop = (terminal: Terminal) => void terminal.program.stop();
  return {
    async create({ args, command, cwd, env, outputByteLimit }) {
      if (terminals.size >= maxTerminals) throw new TooManyTerminalsError();
      const folder = await realpath(resolve(root, cwd ?? '.'));
      if (!isInside(root, folder)) throw new OutsideError(`${cwd} is outside of the folder of this session`);
      const added = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
      const program = startProgram({
        ...commandLine(command, args ?? []),
        cwd: folder,
        env: { ...environment, ...added },
        graceMs: GRACE_MS,
      });
      program.stdin.end();
      const output = new TailBuffer(Math.min(outputByteLimit ?? DEFAULT_OUTPUT, MAX_OUTPUT));
      const terminal: Terminal = { program, exit: null, output };
      for (const stream of [program.stdout, program.stderr])
        stream.on('data', (chunk: Buffer) => output.push(chunk));
      void program.exited.then((exit) => {
        terminal.exit = exit;
        if (exit.error !== null) output.push(Buffer.from(`${command}: ${exit.error.message}\n`));
      });
      const terminalId = `term-${randomBytes(8).toString('hex')}`;
      terminals.set(terminalId, terminal);
      return { terminalId };
    },
    output(id) {
      const terminal = terminals.get(id);
      if (terminal === undefined) return null;
      const { exit, output } = terminal;
      return {
        output: output.text(),
        truncated: output.truncated,
        exitStatus: exit === null ? null : statusOf(exit),
      };
    },
    waitForExit(id) {
      const terminal = terminals.get(id);
      return terminal === undefined ? null : terminal.program.exited.then(statusOf);
    },
    kill(id) {
      const terminal = terminals.get(id);
      if (terminal !== undefined) stop(terminal);
      return terminal !== undefined;
    },
    release(id) {
      const terminal = terminals.get(id);
      if (terminal !== undefined) stop(terminal);
      return terminals.delete(id);
    },
    async close() {
      const open = [...terminals.values()];
      terminals.clear();
      await Promise.all(open.map(({ program }) => program.stop()));
    },
  };
}

/** Some agents send a whole command line where the protocol has a program and its arguments. */
function commandLine(command: string, args: readonly string[]): { command: string; args: readonly string[] } {
  if (args.length > 0 || !/\s/.test(command.trim())) return { command, args };
  return process.platform === 'win32'
    ? { command: 'cmd.exe', args: ['/d', '/s', '/c', command] }
    : { command: '/bin/sh', args: ['-c', command] };
}

/** A command that cannot be started ends as a shell would say it. */
const NOT_STARTED = 127;

function statusOf({ code, error, signal }: Exit): { exitCode: number | null; signal: string | null } {
  return error === null ? { exitCode: code, signal } : { exitCode: NOT_STARTED, signal: null };
}

/** Keeps the last bytes of what is put in, and lets go of the rest. */
class TailBuffer {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #bytes = 0;
  truncated = false;

  /** @param limit bytes that are kept */
  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): void {
    this.#pieces.push(chunk);
    this.#bytes += chunk.length;
    while (this.#bytes > this.#limit) {
      this.truncated = true;
      const [first] = this.#pieces;
      if (first === undefined) break;
      const surplus = this.#bytes - this.#limit;
      if (first.length <= surplus) {
        this.#pieces.shift();
        this.#bytes -= first.length;
      } else {
        // A copy, so that the large chunk can go.
        this.#pieces[0] = Buffer.from(first.subarray(surplus));
        this.#bytes -= surplus;
      }
    }
  }

  /** As text that begins with a whole character. */
  text(): string {
    const bytes = Buffer.concat(this.#pieces, this.#bytes);
    let start = 0;
    // Bytes 10xxxxxx continue a character whose beginning is gone.
    while (this.truncated && start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
    return bytes.toString('utf8', start);
  }
}
