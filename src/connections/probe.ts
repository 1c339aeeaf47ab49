import { GatewayError } from '../lib/error.ts';
import { findProvider } from '../providers/index.ts';
import type { connectionStore } from './store.ts';
import { type ConnectionTest, testConnection } from './test.ts';

/**
 * Asks the upstream of a connection, keeps how it went, and returns it; null when there is no such connection.
 * @param timeoutMs how long the upstream may take
 * @throws GatewayError `conflict` for a provider that this version does not know
 */
export async function probeConnection(
  connections: Pick<ReturnType<typeof connectionStore>, 'findOpen' | 'saveTest'>,
  id: string,
  timeoutMs: number,
): Promise<ConnectionTest | null> {
  const open = await connections.findOpen(id);
  if (open === null) return null;
  const provider = findProvider(open.provider);
  if (provider === undefined)
    throw new GatewayError('conflict', `This version knows no provider "${open.provider}"`);
  const test = await testConnection(open, provider, { timeoutMs });
  await connections.saveTest(open.id, test);
  return test;
}
