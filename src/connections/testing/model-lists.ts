import { findProvider } from '../../providers/index.ts';
import type { OpenConnection } from '../schema.ts';
import type { connectionStore } from '../store.ts';
import { type TestOptions, testConnection } from './test-connection.ts';

export interface ModelListsInput {
  connections: Pick<ReturnType<typeof connectionStore>, 'listOpen' | 'saveModels'>;
  tokens: TestOptions['tokens'];
  /** A list that is older is asked for anew, in milliseconds. */
  maxAgeMs: number;
  /** How long an upstream may take. */
  timeoutMs: number;
  /** Where the gateway listens, which is not asked. */
  listening?: TestOptions['listening'];
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Models of a server on this machine come and go with a command. */
const LOCAL_AGE_MS = 600_000;
/** An upstream that gave no list is asked again no sooner. */
const RETRY_MS = 1_800_000;
const AT_ONCE = 4;

/**
 * Asks the connections in use for their models whose list is old. One that does not answer keeps the list it has, and
 * why is written down beside it. No request waits for any of this.
 */
export async function refreshModelLists(input: ModelListsInput): Promise<void> {
  const due = (await input.connections.listOpen()).filter((connection) => isDue(connection, input));
  const left = due.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const connection of left) await refresh(connection, input);
    }),
  );
}

function isDue(connection: OpenConnection, { maxAgeMs, now }: ModelListsInput): boolean {
  const provider = findProvider(connection.provider);
  const { active, models, modelsAt, modelsTriedAt, status } = connection;
  if (!active || status === 'needs-re-entry' || typeof provider?.modelsPath !== 'string') return false;
  const since = now() - Math.max(modelsAt ?? 0, modelsTriedAt ?? 0);
  // A list of the future was asked for before the clock was set back.
  const age = since < 0 ? Number.POSITIVE_INFINITY : since;
  const failed = modelsTriedAt !== null && modelsTriedAt > (modelsAt ?? 0);
  if (failed) return age >= Math.min(RETRY_MS, maxAgeMs);
  return (
    models === null || age >= (provider.category === 'local' ? Math.min(LOCAL_AGE_MS, maxAgeMs) : maxAgeMs)
  );
}

async function refresh(
  connection: OpenConnection,
  { connections, listening = () => null, timeoutMs, tokens }: ModelListsInput,
): Promise<void> {
  const provider = findProvider(connection.provider);
  if (provider === undefined) return;
  const { error, models } = await testConnection(connection, provider, { timeoutMs, tokens, listening });
  await connections.saveModels(connection.id, models ?? { error: error ?? 'it gave no list of models' });
}
