import { isDeepStrictEqual } from 'node:util';
import { needsFresh, permissions } from '../../access/permissions.ts';
import { isObject, type Members } from '../../http/collection/input.ts';
import type { Caller, Resource, Write } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import { isSecretName, REDACTED } from '../../lib/secrets/secrets.ts';
import type { Change, CollectionContext } from './collection.ts';

type Facts = Pick<Change, 'action' | 'target' | 'before' | 'after' | 'input'>;

/** What a step that changes something came to. */
export interface AuditedResult<T> {
  value: T;
  /** What the audit log learns only now. */
  facts?: Partial<Facts>;
  /** What a failure without an error says. */
  failed?: string | null;
}

/** What is changed, as far as the audit log names it and the rights over it are known. */
type AuditedResource = Pick<Resource, 'name' | 'create' | 'update' | 'remove'>;

/** Does something that changes something, and records it before it is announced, failures too. */
export async function withAudit<T>(
  context: Pick<CollectionContext, 'record'>,
  { caller, resource }: { caller: Caller; resource: AuditedResource },
  facts: Pick<Facts, 'action' | 'target'> & Partial<Facts>,
  run: () => Promise<AuditedResult<T>>,
): Promise<T> {
  const record = (more: Partial<Facts>, outcome: Change['outcome'], reason: string | null): Promise<void> => {
    const { action, after = null, before = null, input = null, target } = { ...facts, ...more };
    return context.record({
      caller,
      action,
      target,
      outcome,
      reason,
      collection: resource.name,
      before: before && masked(before),
      after: after && masked(after),
      input: input && masked(input),
    });
  };
  // What decides over rights and secrets is not done unless it can be recorded; it is recorded before, too.
  if (decidesOverRights(resource)) await record({ after: null }, 'intended', null);
  let done: AuditedResult<T>;
  try {
    done = await run();
  } catch (error) {
    const gatewayError = error instanceof GatewayError ? error : null;
    const denied = gatewayError?.kind === 'permission' || gatewayError?.kind === 'authentication';
    await record({ after: null }, denied ? 'denied' : 'failure', gatewayError?.code ?? 'internal_error');
    throw error;
  }
  const { facts: learned = {}, failed = null, value } = done;
  await record(learned, failed === null ? 'success' : 'failure', failed);
  return value;
}

/** Whether changes of the collection need a password that was proven a moment ago. */
function decidesOverRights({ create, remove, update }: AuditedResource): boolean {
  return [create, update, remove].some(
    (write) =>
      write !== undefined && Object.hasOwn(permissions, write.permission) && needsFresh(write.permission),
  );
}

/** The fields of both sides that differ. */
export function changedAttributes(before: Members, after: Members): { before: Members; after: Members } {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
  const only = (members: Members): Members =>
    Object.fromEntries(
      names.filter((name) => Object.hasOwn(members, name)).map((name) => [name, members[name]]),
    );
  return { before: only(before), after: only(after) };
}

/** A copy in which no text is left under a name that secrets have. */
export function masked(members: Members): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]) => [name, maskedValue(value, isSecretName(name))]),
  );
}

/** An input as the audit log may have it. */
export function withoutSecrets({ secrets = [] }: Pick<Write, 'secrets'>, input: Members): Members {
  const entries = Object.entries(input).map(([name, value]) => [
    name,
    secrets.includes(name) ? REDACTED : value,
  ]);
  return Object.fromEntries(entries);
}

function maskedValue(value: unknown, hide: boolean): unknown {
  if (typeof value === 'string') return hide ? REDACTED : value;
  if (typeof value === 'number' || typeof value === 'bigint') return value;
  if (Array.isArray(value)) return value.map((element) => maskedValue(element, hide));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, maskedValue(member, hide || isSecretName(name))]),
  );
}
