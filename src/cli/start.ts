import { basename, dirname, join, relative } from 'node:path';
import { readVariable } from '../config.ts';
import type { CommandEntry } from './command.ts';
import { run } from './program.ts';
import { createIo } from './terminal/io.ts';

/**
 * Runs the program for `argv` (without node and script) and ends the process as its outcome says.
 * @param script what was started, as `import.meta.filename` names it
 */
export async function start(
  argv: readonly string[],
  commands: readonly CommandEntry[],
  script: string,
): Promise<void> {
  const switches = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;
  const io = createIo({
    json: switches.includes('--json'),
    nonInteractive: switches.includes('--non-interactive'),
    readsKeys: readVariable('TERM') !== 'dumb',
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    onBrokenPipe: () => process.exit(0),
    program: programName(script),
  });
  const exit = await run(argv, io, commands);
  await io.flush();
  if (typeof exit === 'number') process.exit(exit);
  if ('exitCode' in exit) process.exit(exit.exitCode);
  // Ends as the program did that it stood for, so that a shell sees the same.
  process.kill(process.pid, exit.signal);
}

/** In a clone, the path of the program that was typed; else the name under which it was installed. */
function programName(script: string): string {
  const started = process.argv[1] ?? '';
  if (!script.endsWith('.ts') || basename(started) !== 'gateway.js') return 'gateway';
  const path = join(dirname(started), 'gateway');
  const below = relative(process.cwd(), path);
  return below.startsWith('..') ? path : below;
}
