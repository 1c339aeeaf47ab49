import { spawn } from 'node:child_process';
import { encodeJsonEvent } from '../../events/cloudevents/json-format.ts';
import type { ProcessorOutcome } from '../../events/processors/processor.ts';
import type { DeliveryResult, Sender } from './sender.ts';

export interface CommandInput {
  file: string;
  args: readonly string[];
  /** Where it runs. */
  folder: string;
  /** Where it finds other programs: the one variable of this process that it gets. */
  path: string | undefined;
  /** Default 25,000. */
  timeoutMs?: number;
}

/** Less than what an attempt of a trigger may take. */
const TIMEOUT_MS = 25_000;
const MOST_OUTPUT = 300;

/**
 * Runs a program for each event, without a shell: the event is JSON on its standard input, and nothing of this process's
 * environment is given to it but `PATH`. A status other than 0 is tried again.
 */
export function createCommandSender(input: CommandInput): Sender {
  const running = new Set<AbortController>();
  return {
    async send(event) {
      const stop = new AbortController();
      running.add(stop);
      try {
        return await run(input, encodeJsonEvent(event), stop.signal);
      } finally {
        running.delete(stop);
      }
    },
    async close() {
      for (const stop of running) stop.abort();
    },
  };
}

function run(
  { args, file, folder, path, timeoutMs = TIMEOUT_MS }: CommandInput,
  stdin: Uint8Array,
  stop: AbortSignal,
): Promise<DeliveryResult> {
  return new Promise((resolve) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const child = spawn(file, args, {
      cwd: folder,
      env: path === undefined ? {} : { PATH: path },
      shell: false,
      stdio: ['pipe', 'pipe', 'pipe'],
      signal: AbortSignal.any([stop, timeout]),
      killSignal: 'SIGKILL',
    });
    let output = '';
    const collect = (chunk: Buffer) => {
      if (output.length < MOST_OUTPUT) output += chunk.toString('utf8').slice(0, MOST_OUTPUT);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    // It need not read what it is given.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    child.on('error', (error: NodeJS.ErrnoException) => {
      const what = timeout.aborted
        ? `took longer than ${timeoutMs / 1_000} seconds`
        : `failed: ${error.code}`;
      resolve(unfinished(`The program ${what}`, output));
    });
    child.on('close', (status, signal) => {
      if (status === 0) resolve({ outcome: { kind: 'done' }, answer: withOutput('Status 0', output) });
      else resolve(unfinished(`The program ended with ${signal ?? `the status ${status}`}`, output));
    });
  });
}

function unfinished(reason: string, output: string): DeliveryResult {
  const outcome: ProcessorOutcome = { kind: 'retry', reason, status: null, afterMs: 0 };
  return { outcome, answer: withOutput(reason, output) };
}

function withOutput(what: string, output: string): string {
  const text = output.trim();
  return text === '' ? what : `${what}: ${text.slice(0, MOST_OUTPUT)}`;
}
