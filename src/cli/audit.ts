import { userInfo } from 'node:os';
import { openAudit } from '../access/audit/audit.ts';
import type { AuditEntry } from '../access/audit/schema.ts';
import type { Context } from './context.ts';
import { reportOf } from './terminal/failure.ts';

/** What a command did, or is about to do. Secrets stay out of it. */
export type CommandRecord = Pick<AuditEntry, 'action' | 'target'> &
  Partial<Pick<AuditEntry, 'input' | 'before' | 'after' | 'outcome' | 'reason'>>;

/**
 * Records in the audit log what a command does, for the owner of the machine. It is on the disk when this returns, in
 * one chain with what a running gateway writes.
 * @throws GatewayError `audit_unavailable`: the command must not go on then
 */
export async function recordCommand({ dataDir: where, now }: Context, entry: CommandRecord): Promise<void> {
  const dataDir = await where();
  const log = openAudit({ dataDir, retentionMonths: null, now, onError: () => {} });
  await log.writeNow({
    request_id: null,
    address: null,
    input: null,
    before: null,
    after: null,
    outcome: 'success',
    reason: null,
    ...entry,
    actor: { id: null, name: userName(), role: null, via: 'cli', token_id: null },
  });
  await log.close();
}

/** Does something that is in the audit log before it happens, and once more when it fails. */
export async function audited<T>(context: Context, entry: CommandRecord, run: () => Promise<T>): Promise<T> {
  await recordCommand(context, entry);
  try {
    return await run();
  } catch (error) {
    const reason = reportOf(error).code;
    await recordCommand(context, { ...entry, after: null, outcome: 'failure', reason });
    throw error;
  }
}

/** What is recorded of a connection that is about to be made: all but its key. */
export function newConnectionEntry(connection: {
  provider: string;
  name: string;
  baseUrl: string | null;
  defaultModel: string | null;
}): CommandRecord {
  const { baseUrl: base_url, defaultModel: default_model, name, provider } = connection;
  return { action: 'connections.create', target: name, input: { provider, name, base_url, default_model } };
}

/** The system's user; null where it has no name, as in some containers. */
function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
