import { basename, dirname, join, relative } from 'node:path';
import { readVariable } from '../config.ts';
import { run } from './program.ts';
import { createIo } from './terminal/io.ts';

const argv = process.argv.slice(2);
const switches = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;

const io = createIo({
  json: switches.includes('--json'),
  nonInteractive: switches.includes('--non-interactive'),
  readsKeys: readVariable('TERM') !== 'dumb',
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onBrokenPipe: () => process.exit(0),
  program: programName(),
});

const exit = await run(argv, io);
await io.flush();
if (typeof exit === 'number') process.exit(exit);
if ('exitCode' in exit) process.exit(exit.exitCode);
// Ends as the program did that it stood for, so that a shell sees the same.
process.kill(process.pid, exit.signal);

/** In a clone, the path of the program that was typed; else the name under which it was installed. */
function programName(): string {
  const started = process.argv[1] ?? '';
  if (!import.meta.filename.endsWith('.ts') || basename(started) !== 'gateway.js') return 'gateway';
  const path = join(dirname(started), 'gateway');
  const below = relative(process.cwd(), path);
  return below.startsWith('..') ? path : below;
}
