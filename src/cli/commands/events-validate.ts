import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { EventConfig } from '../../events/config/config.ts';
import { type ConfigSource, decodeConfig } from '../../events/config/decode.ts';
import type { ConfigProblem } from '../../events/config/problem.ts';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { count, printable } from '../terminal/text.ts';

/** Endings of files that hold the message itself. */
const binaryEndings = ['.binpb', '.pb'];

export const eventsValidateCommand: Command = {
  arguments: [
    {
      name: 'file',
      summary:
        'YAML, JSON, or the protobuf message in a file that ends in .binpb or .pb; - reads text from stdin',
      required: true,
    },
  ],
  flags: [
    {
      name: 'lenient',
      summary:
        'take P6S for PT6S, and numbers without a time unit for what others take them for, with a warning',
    },
  ],
  needs: 'nothing',
  about:
    'Checks fields, references, addresses, durations, limits and filters, and prints all that is wrong, each with its field and its line. Exit 1 when there are errors; warnings are none. Nothing is changed, and no message queue is asked.',
  examples: [
    { command: 'gateway events validate events.yaml', does: 'all problems of the file' },
    {
      command: 'gateway events validate events.yaml --json',
      does: '{"valid","errors":[…],"warnings":[…],…}',
    },
  ],
  run: async (options, context) => {
    const file = options.argument('file') ?? '';
    const decoded = decodeConfig(await sourceOf(file, context), { lenient: options.on('lenient') });
    const problems = decoded.ok ? decoded.warnings : decoded.problems;
    const of = (wanted: ConfigProblem['severity']) =>
      problems
        .filter(({ severity }) => severity === wanted)
        .map(({ column = null, line = null, message, path }) => ({ path, message, line, column }));
    const document = {
      file,
      valid: decoded.ok,
      errors: of('error'),
      warnings: of('warning'),
      summary: decoded.ok ? summaryOf(decoded.config) : null,
    };
    context.io.result(document, () => textOf(file, problems, document.summary, context.io));
    return decoded.ok ? 0 : 1;
  },
};

async function sourceOf(file: string, { io }: Context): Promise<ConfigSource> {
  if (file === '-') return { format: 'text', text: await io.readStdin() };
  const bytes = await contents(file);
  return binaryEndings.includes(extname(file))
    ? { format: 'protobuf', bytes }
    : { format: 'text', text: bytes.toString() };
}

async function contents(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw usageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is no file'}`);
  }
}

const summaryOf = ({ channels, routes, sources, triggers }: EventConfig) => ({
  channels: channels.size,
  sources: sources.size,
  triggers: triggers.size,
  routers: routes.length,
});

function textOf(
  file: string,
  problems: readonly ConfigProblem[],
  summary: ReturnType<typeof summaryOf> | null,
  io: Io,
): string {
  const lines = problems.map(({ column, line, message, path, severity }) => {
    const place = line === undefined ? file : `${file}:${line}:${column}`;
    const field = path === '' ? '' : `${path}: `;
    const label = io.paint(severity === 'error' ? 'red' : 'yellow', severity);
    return `${printable(place)}: ${label}: ${printable(`${field}${message}`)}`;
  });
  const verdict =
    summary === null
      ? `${file} is not valid.`
      : `${file} is valid: ${Object.entries(summary)
          .map(([what, amount]) => count(amount, what.replace(/s$/, '')))
          .join(', ')}.`;
  return [...lines, printable(verdict)].join('\n');
}
