import { GatewayError } from '../../lib/error.ts';
import { findProvider } from '../../providers/index.ts';
import type { connectionStore } from '../store.ts';
import { type ConnectionTest, type TestOptions, testConnection } from './test-connection.ts';

/**
 * Asks the upstream of a connection, keeps how it went, and returns it; null when there is no such connection.
 * @throws GatewayError `conflict` for a provider that is unknown to this version
 */
export async function probeConnection(
  connections: Pick<ReturnType<typeof connectionStore>, 'findOpen' | 'saveTest'>,
  id: string,
  options: Omit<TestOptions, 'clock'>,
): Promise<ConnectionTest | null> {
  const open = await connections.findOpen(id);
  if (open === null) return null;
  const provider = findProvider(open.provider);
  if (provider === undefined)
    throw new GatewayError('conflict', `This version does not support the provider "${open.provider}"`);
  const test = await testConnection(open, provider, options);
  await connections.saveTest(open.id, test);
  return test;
}
