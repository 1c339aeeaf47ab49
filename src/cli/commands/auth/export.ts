import { randomBytes } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { storageKey as storageKeyOf } from '../../../connections/credentials/seal.ts';
import { connectionStore } from '../../../connections/store.ts';
import { recordCommand } from '../../audit.ts';
import type { Command, Options } from '../../command.ts';
import type { Context } from '../../context.ts';
import { noConnection } from '../../setup/connect.ts';
import { usageError } from '../../terminal/failure.ts';
import { count } from '../../terminal/text.ts';

const banner = `!! WARNING !!
!! This prints the credentials of your providers in plain text. Whoever reads
!! the output can use your accounts. Keep it off shared screens, logs and shells
!! that keep a history, and remove it when it has served.`;

/** A connection with what it logs in with. Only API keys are stored so far. */
interface ExportedConnection {
  id: string;
  provider: string;
  name: string;
  apiKey?: string;
  apiKeyDecryptFailed?: true;
}

export const authExportCommand: Command = {
  arguments: [],
  flags: [
    { name: 'force', summary: 'really do it; without this flag, only print a warning' },
    { name: 'id', value: 'ID', summary: 'only this connection' },
    {
      name: 'format',
      value: 'FORMAT',
      choices: ['json', 'env'],
      summary: 'json (default), or NAME=value lines',
    },
    { name: 'out', value: 'FILE', summary: 'write a file that only you can read, instead of stdout' },
  ],
  needs: 'store',
  about:
    'Needs STORAGE_ENCRYPTION_KEY in the environment; if the gateway made its own key, use the content of DATA_DIR/storage.key. Credentials that cannot be decrypted are marked (apiKeyDecryptFailed), and the others are exported. The export is in the audit log, without the credentials.',
  examples: [
    { command: 'gateway auth export --force --out credentials.json', does: 'all of them' },
    {
      command: 'gateway auth export --force --id con_0m1x2y3z4 --format env',
      does: 'GATEWAY_OPENAI_API_KEY=… of one connection',
    },
  ],
  run: async (options, context) => {
    context.io.note(banner);
    if (!options.on('force'))
      throw usageError('Nothing was exported: repeat the command with --force if you mean it');
    const exported = await readAll(options, context);
    await recordCommand(context, {
      action: 'connections.export',
      target: options.text('id') ?? null,
      input: { format: options.text('format') ?? 'json', out: options.text('out') ?? null },
      after: { connections: exported.map(({ id }) => id) },
    });
    for (const { apiKeyDecryptFailed, id, name } of exported)
      if (apiKeyDecryptFailed)
        context.io.note(`The API key of "${name}" (${id}) cannot be decrypted with this key.`);
    await put(exported, options, context);
    return 0;
  },
};

async function readAll(options: Options, { config, existingStore }: Context): Promise<ExportedConnection[]> {
  const { dataDir, storageKey } = await config();
  if (storageKey === null)
    throw usageError(
      `STORAGE_ENCRYPTION_KEY is not set, and nothing is exported without it. A key that the gateway made itself is in ${dataDir}/storage.key`,
    );
  const store = await existingStore();
  const { key } = await storageKeyOf(dataDir, storageKey);
  const all = store === null ? [] : await connectionStore(store, key).listOpen();
  const id = options.text('id');
  const selected = id === undefined ? all : all.filter((connection) => connection.id === id);
  if (id !== undefined && selected.length === 0) throw noConnection(id);
  return selected.map(({ credential, id, name, provider, status }) => ({
    id,
    provider,
    name,
    ...(credential === null ? {} : { apiKey: credential }),
    ...(status === 'needs-re-entry' ? { apiKeyDecryptFailed: true as const } : {}),
  }));
}

async function put(
  exported: readonly ExportedConnection[],
  options: Options,
  { io }: Context,
): Promise<void> {
  const inLines = options.text('format') === 'env';
  const variables = inLines ? variablesOf(exported) : {};
  const document = inLines ? { variables } : { connections: exported };
  const text = inLines
    ? Object.entries(variables)
        .map(([name, value]) => `${name}=${quoted(value)}\n`)
        .join('')
    : `${JSON.stringify(document, null, 2)}\n`;
  const out = options.text('out');
  if (out === undefined) return io.result(document, () => text);
  const path = resolve(out);
  await writePrivate(path, text);
  io.result(
    { file: path, connections: exported.length },
    () => `Wrote ${count(exported.length, 'connection')} to ${path}.`,
  );
}

/** `GATEWAY_OPENAI_API_KEY`; a second connection of a provider gets `GATEWAY_OPENAI_2_API_KEY`. */
function variablesOf(exported: readonly ExportedConnection[]): Record<string, string> {
  const seen = new Map<string, number>();
  const variables: Record<string, string> = {};
  for (const { apiKey, provider } of exported) {
    if (apiKey === undefined) continue;
    const word = provider.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
    const number = (seen.get(word) ?? 0) + 1;
    seen.set(word, number);
    variables[`GATEWAY_${word}${number === 1 ? '' : `_${number}`}_API_KEY`] = apiKey;
  }
  return variables;
}

/** As it is where no shell would read anything into it, else in single quotes. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]*$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}

/** Never wider than 0600, also in the place of a file that was. */
async function writePrivate(path: string, text: string): Promise<void> {
  const partial = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(partial, text, { mode: 0o600, flag: 'wx', flush: true });
    await rename(partial, path);
  } finally {
    await rm(partial, { force: true });
  }
}
