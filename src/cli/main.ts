import { createIo } from './io.ts';
import { run } from './program.ts';

const argv = process.argv.slice(2);
const switches = argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;

const io = createIo({
  json: switches.includes('--json'),
  nonInteractive: switches.includes('--non-interactive'),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onBrokenPipe: () => process.exit(0),
});

const exit = await run(argv, io);
await io.flush();
process.exit(exit);
