import { Worker } from 'node:worker_threads';
import { GatewayError } from '../lib/error.ts';
import { nodeName } from '../store/node-name.ts';
import { inspectPostgres } from '../store/postgres/inspect.ts';
import type { CopyThreadInput, CopyThreadMessage } from './copy-thread.ts';

export interface CopyServerInput {
  /** DATABASE_URL. */
  url: string;
  /** The data directory of this gateway, whose own rows are copied. */
  dataDir: string;
  /** An empty folder, which the file is made in. */
  folder: string;
  /** Ends the copying, and with it the transaction at the server. */
  signal: AbortSignal | undefined;
  /** Told how much is done, from 0 to 1. */
  progress(done: number): void;
}

/**
 * Copies the database on a server, as it is at one moment, to a SQLite file, in a thread of its own. Gateways go on using it meanwhile.
 * @throws GatewayError for a server that does not answer and a database with another schema, and the reason of the signal
 */
export async function copyServer({ dataDir, folder, progress, signal, url }: CopyServerInput): Promise<void> {
  await refuseOtherSchema(url);
  signal?.throwIfAborted();
  const file = `./copy-thread${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
  const workerData: CopyThreadInput = { url, node: nodeName(dataDir), folder };
  const thread = new Worker(new URL(file, import.meta.url), {
    workerData,
    // Without the flags of this process, which may say that texts are modules.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const { promise, reject, resolve } = Promise.withResolvers<void>();
  thread.on('message', (message: CopyThreadMessage) => {
    if (message.kind === 'progress') progress(message.done);
    else if (message.kind === 'done') resolve();
    else reject(failureOf(message));
  });
  thread.on('error', reject);
  thread.on('exit', () => reject(new Error('the thread that copies the database ended')));
  const stop = () => reject(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    await promise;
  } finally {
    signal?.removeEventListener('abort', stop);
    // What it has open ends with it.
    await thread.terminate();
  }
}

/**
 * @throws GatewayError where the database has the schema of another version: a copy would lack what that one added, or have
 *   unknown columns
 */
export async function refuseOtherSchema(url: string): Promise<void> {
  const { empty, pending, place } = await inspectPostgres(url);
  if (empty)
    throw new GatewayError(
      'not_found',
      `There are no tables in the database ${place}, so nothing to back up`,
    );
  if (pending.length === 0) return;
  throw new GatewayError(
    'conflict',
    `The database ${place} was written by an older version of Modelgate: make the backup with that one, or start a gateway of this version first`,
  );
}

function failureOf({ code, message }: CopyThreadMessage & { kind: 'failed' }): Error {
  return code === null ? new Error(message) : new GatewayError(code, message);
}
