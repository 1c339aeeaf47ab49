import { readFile } from 'node:fs/promises';
import type { Flag, Options } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../terminal/failure.ts';

/** How a provider's key is handed over. The variable and stdin stay out of the process list and the shell history. */
export const credentialFlags: readonly Flag[] = [
  {
    name: 'api-key-env',
    value: 'VAR',
    summary: "read the provider's key from this environment variable (preferred)",
  },
  { name: 'api-key-stdin', summary: "read the provider's key from stdin (preferred)" },
  {
    name: 'api-key-file',
    value: 'FILE',
    summary: 'read it from a file, e.g. the JSON document of a service account',
  },
  { name: 'api-key', value: 'KEY', summary: "the provider's key; other users of this machine can see it" },
];

/**
 * The provider's key that the flags name, or null when none of them was given.
 * @throws a usage error when several were given, or the one given yields nothing
 */
export async function readCredential(options: Options, context: Context): Promise<string | null> {
  const direct = options.text('api-key');
  const variable = options.text('api-key-env');
  const stdin = options.on('api-key-stdin');
  const file = options.text('api-key-file');
  const sources = [direct !== undefined, variable !== undefined, file !== undefined, stdin].filter(
    Boolean,
  ).length;
  if (sources > 1)
    throw usageError('Give only one of --api-key, --api-key-env, --api-key-file and --api-key-stdin');
  if (direct !== undefined) {
    context.io.note('Note: a key on the command line is visible to other users; --api-key-stdin is not.');
    return present(direct, '--api-key');
  }
  if (variable !== undefined) {
    const value = await context.variable(variable);
    if (value === undefined) throw usageError(`The environment variable ${variable} is not set`);
    return present(value, variable);
  }
  if (file !== undefined) return present(await contents(file), file);
  return stdin ? present(await context.io.readStdin(), '--api-key-stdin') : null;
}

async function contents(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw usageError(
      `${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is not a file'}`,
    );
  }
}

/** A key is one word; a document in JSON is checked by who takes it. */
function present(value: string, where: string): string {
  const key = value.trim();
  if (key.startsWith('{')) return key;
  if (key === '') throw usageError(`${where} holds no key`);
  if (/[\s\u0000-\u001f\u007f]/.test(key))
    throw usageError(`${where} holds more than a key: it has spaces or lines`);
  return key;
}
