import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { ConfigSource } from '../../events/config/decode.ts';
import type { ConfigProblem } from '../../events/config/problem.ts';
import type { Argument } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../terminal/failure.ts';
import type { Io } from '../terminal/io.ts';
import { printable } from '../terminal/text.ts';

/** Endings of files that hold the message itself. */
const binaryEndings = ['.binpb', '.pb'];

export const configFileArgument: Argument = {
  name: 'file',
  summary:
    'YAML, JSON, or the protobuf message in a file that ends in .binpb or .pb; - reads text from stdin',
  required: true,
};

/** The configuration in a file. @throws a failure when it cannot be read */
export async function configSource(file: string, { io }: Context): Promise<ConfigSource> {
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
    throw usageError(
      `${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is not a file'}`,
    );
  }
}

/** A line for each problem, with its place in the file. */
export function problemLines(file: string, problems: readonly ConfigProblem[], io: Io): string[] {
  return problems.map(({ column, line, message, path, severity }) => {
    const place = line === undefined ? file : `${file}:${line}:${column}`;
    const field = path === '' ? '' : `${path}: `;
    const label = io.paint(severity === 'error' ? 'red' : 'yellow', severity);
    return `${printable(place)}: ${label}: ${printable(`${field}${message}`)}`;
  });
}
