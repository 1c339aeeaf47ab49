import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';

export interface Script {
  child: ChildProcess;
  /** The next line that it prints. @throws when it ends without one */
  line(): Promise<string>;
  /** The lines that were not asked for yet, once it has ended. */
  rest(): Promise<string[]>;
  /** Tells the script to go on: `await go()` in it. */
  go(): void;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
  /** Its exit code. @throws with what it wrote to stderr unless it is 0 */
  ended(): Promise<void>;
}

/**
 * Runs a module of TypeScript text in a Node.js process of its own, from `folder` (imports are relative to it). In
 * it, `say(text)` prints a line at once and `await go()` waits for `go()` here.
 * @param test at whose end it is killed; null for one that is killed by other means
 */
export function runScript(test: Pick<TestContext, 'after'> | null, folder: string, source: string): Script {
  const prelude = `
    import { writeSync } from 'node:fs';
    import { once } from 'node:events';
    const say = (text: unknown) => writeSync(1, String(text) + '\\n');
    const go = async () => { await once(process.stdin, 'data'); };
  `;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', prelude + source], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const killOnExit = () => child.kill('SIGKILL');
  process.once('exit', killOnExit);
  test?.after(killOnExit);
  const exit = once(child, 'exit') as Promise<[number | null]>;
  void exit.then(() => process.off('exit', killOnExit));
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  child.stdin.on('error', () => {});
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    async line() {
      const { done, value } = await lines.next();
      if (done === true) throw new Error(`the script ended: ${errors}`);
      return value;
    },
    async rest() {
      const all: string[] = [];
      for (let next = await lines.next(); next.done !== true; next = await lines.next()) all.push(next.value);
      return all;
    },
    go: () => void child.stdin.write('go\n'),
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
    async ended() {
      child.stdin.end();
      const [code] = await exit;
      if (code !== 0) throw new Error(`the script ended with ${code}: ${errors}`);
    },
  };
}
