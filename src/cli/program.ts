import { Argument, Command as Commander, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type Command, type CommandEntry, commonFlags, type Flag, type Options } from './command.ts';
import { groups } from './commands/groups.ts';
import { createContext } from './context.ts';
import type { ChildEnd, ExitCode } from './terminal/exit-code.ts';
import { reportOf } from './terminal/failure.ts';
import type { Io } from './terminal/io.ts';
import { version } from './version.ts';

/** Runs the program for `argv` (without node and script), which may name any of `commands`, and says how to exit. Never throws. */
export async function run(
  argv: readonly string[],
  io: Io,
  commands: readonly CommandEntry[],
): Promise<ExitCode | ChildEnd> {
  try {
    return await execute(argv, io, commands);
  } catch (error) {
    return fail(error, io);
  }
}

async function execute(
  argv: readonly string[],
  io: Io,
  commands: readonly CommandEntry[],
): Promise<ExitCode | ChildEnd> {
  const printed: string[] = [];
  const program = createProgram(io, (text) => printed.push(text));
  let exit: ExitCode | ChildEnd = 0;
  for (const entry of commands) {
    const node = register(program, entry);
    node.action(async () => {
      const command = await entry.load();
      exit = await runCommand(command, node, io, commands);
    });
  }
  try {
    await program.parseAsync(chosen(program, argv), { from: 'user' });
  } finally {
    printHelp(printed.join(''), io);
  }
  return exit;
}

/** The parser prints the help in several pieces; with `--json` they are one document. */
function printHelp(text: string, io: Io): void {
  if (text === '') return;
  io.result(text.trim() === version() ? { version: version() } : { help: text }, () => text);
}

function createProgram(io: Io, printed: (text: string) => void): Commander {
  const program = new Commander('gateway')
    .description('One address and one key for every coding tool, agent and script, any model behind it.')
    .usage('[command] [options]')
    .version(version(), '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: printed,
      writeErr: (text) => io.note(text),
      outputError: () => {},
      getOutHelpWidth: () => 100,
      getErrHelpWidth: () => 100,
    })
    .exitOverride()
    .addHelpText(
      'after',
      '\nWithout a command, `gateway` is `gateway serve`, and `gateway --mcp` serves MCP over stdio. `gateway COMMAND --help` shows examples.',
    );
  for (const flag of commonFlags) program.addOption(optionOf(flag));
  return program;
}

/** Adds the entry to the tree. Its arguments and flags follow when the parser gets to it. */
function register(program: Commander, entry: CommandEntry): Commander {
  const [first = '', second] = entry.name.split(' ');
  const parent = second === undefined ? program : groupNode(program, first);
  const node = parent.command(second ?? first).description(entry.summary);
  parent.hook('preSubcommand', async (_, next) => {
    if (next === node) declare(node, entry, await entry.load());
  });
  return node;
}

function groupNode(program: Commander, name: string): Commander {
  const existing = program.commands.find((command) => command.name() === name);
  return (
    existing ??
    program
      .command(name)
      .description(groups[name] ?? '')
      .helpCommand(false)
  );
}

function declare(node: Commander, entry: CommandEntry, command: Command): void {
  for (const { choices, name, required, rest = false, summary } of command.arguments) {
    const shown = rest ? `${name}...` : name;
    const argument = new Argument(required ? `<${shown}>` : `[${shown}]`, summary);
    if (choices !== undefined) argument.choices(choices);
    node.addArgument(argument);
  }
  for (const flag of command.flags) node.addOption(optionOf(flag));
  if (command.about !== undefined) node.description(`${entry.summary}\n\n${command.about}`);
  const lines = command.examples.map(({ command: line, does }) => `  ${line}\n      ${does}`);
  node.addHelpText('after', `\n${needsText[command.needs]}Examples:\n${lines.join('\n')}`);
}

const needsText: Readonly<Record<Command['needs'], string>> = {
  nothing: '',
  store: 'Works on the data directory, whether or not a gateway runs.\n\n',
  server: 'Needs a running gateway.\n\n',
};

function optionOf(flag: Flag): Option {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  const value = flag.value === undefined ? '' : ` <${flag.value}>`;
  const option = new Option(`${short}--${flag.name}${value}`, flag.summary);
  if (flag.choices !== undefined) option.choices(flag.choices);
  if (flag.kind === 'count') option.argParser(wholeNumber);
  if (flag.kind === 'list')
    option.argParser<string[]>((text, before) => [...(Array.isArray(before) ? before : []), text]);
  return option;
}

function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number.');
}

/** `gateway` alone is `gateway serve`, and `gateway help X` is `gateway X --help`. */
function chosen(program: Commander, argv: readonly string[]): string[] {
  if (argv[0] === 'help') return [...argv.slice(1), '--help'];
  const { operands, unknown } = program.parseOptions([...argv]);
  const asksHelp = unknown[0] === '--help' || unknown[0] === '-h';
  return operands.length === 0 && !asksHelp ? ['serve', ...argv] : [...argv];
}

async function runCommand(
  command: Command,
  node: Commander,
  io: Io,
  commands: readonly CommandEntry[],
): Promise<ExitCode | ChildEnd> {
  const values: Readonly<Record<string, unknown>> = node.optsWithGlobals();
  const options = readOptions(command, values, node.processedArgs);
  const context = createContext({ io, flags: configFlags(command, options) });
  try {
    if (command.needs === 'server') await context.gateway();
    const exit = await command.run(options, context, commands);
    await context.settle();
    return exit;
  } finally {
    await context.close();
  }
}

function configFlags(
  command: Command,
  options: Options,
): { host?: string; port?: string; workers?: string; dataDir?: string } {
  const host = command.flags.some(({ name }) => name === 'host') ? options.text('host') : undefined;
  const workers = command.flags.some(({ name }) => name === 'workers') ? options.text('workers') : undefined;
  const port = options.text('port');
  const dataDir = options.text('data-dir');
  return {
    ...(host === undefined ? {} : { host }),
    ...(workers === undefined ? {} : { workers }),
    ...(port === undefined ? {} : { port }),
    ...(dataDir === undefined ? {} : { dataDir }),
  };
}

/** Typed reading of what the parser found, limited to what the command declares. */
function readOptions(
  command: Command,
  values: Readonly<Record<string, unknown>>,
  args: readonly unknown[],
): Options {
  const flagValue = (name: string): unknown => {
    const flag = [...command.flags, ...commonFlags].find((declared) => declared.name === name);
    if (flag === undefined) throw new Error(`the command declares no flag --${name}`);
    return values[optionOf(flag).attributeName()];
  };
  const argumentValue = (name: string): unknown => {
    const index = command.arguments.findIndex((declared) => declared.name === name);
    if (index === -1) throw new Error(`the command declares no argument ${name}`);
    return args[index];
  };
  return {
    argument: (name) => {
      const value = argumentValue(name);
      return typeof value === 'string' ? value : undefined;
    },
    rest: (name) => {
      const value = argumentValue(name);
      return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
    },
    text: (name) => {
      const value = flagValue(name);
      return typeof value === 'string' ? value : undefined;
    },
    texts: (name) => {
      const value = flagValue(name);
      return Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];
    },
    count: (name) => {
      const value = flagValue(name);
      return typeof value === 'number' ? value : undefined;
    },
    // The parser turns `--no-x` into x=false, so a switch named no-x is on when x is false.
    on: (name) => (name.startsWith('no-') ? flagValue(name) === false : flagValue(name) === true),
  };
}

function fail(error: unknown, io: Io): ExitCode {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    const message = error.message.replace(/^error: (?:command-argument )?/, '').trim();
    if (error.code !== 'commander.help') return print(2, 'bad_usage', message, io);
    return print(2, 'bad_usage', 'Name one of the commands above.', io);
  }
  const { exit, code, message } = reportOf(error);
  return print(exit, code, message, io);
}

function print(exit: ExitCode, code: string, message: string, io: Io): ExitCode {
  io.note(`gateway: ${message}`);
  if (io.json) io.result({ error: { code, message } }, () => '');
  return exit;
}
