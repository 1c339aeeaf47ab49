import type { AuditLog } from '../access/audit/audit.ts';
import type { AuditActor, AuditEntry } from '../access/audit/schema.ts';
import type { Caller } from '../http/resource.ts';
import type { Change } from './collection/collection.ts';
import type { AuditEvent } from './context.ts';

/** Actions of what is no change of a collection. */
const actions = {
  login: 'auth.login',
  logout: 'auth.logout',
  refused: 'auth.refused',
  guard: 'request.refused',
  setup: 'auth.setup',
} as const satisfies Record<Exclude<AuditEvent['kind'], 'change'>, string>;

/**
 * Records what happens in the management API: changes and the first admin before they are answered, all else soon
 * after.
 */
export function auditEvents(log: AuditLog): (event: AuditEvent) => Promise<void> {
  return async (event) => {
    const entry = entryOf(event);
    switch (event.kind) {
      case 'change':
        // Nothing has happened that must not be without its record.
        return event.change.outcome === 'denied' ? log.write(entry) : log.writeNow(entry);
      case 'setup':
        return log.writeNow(entry);
      case 'login':
      case 'logout':
      case 'refused':
      case 'guard':
        return log.write(entry);
    }
  };
}

function entryOf(event: AuditEvent): AuditEntry {
  if (event.kind === 'change') return entryOfChange(event.change);
  const { address, caller, kind, outcome, reason, requestId, target, userId } = event;
  return {
    request_id: requestId,
    actor:
      caller === undefined
        ? { id: userId, name: null, role: null, via: 'none', token_id: null }
        : actorOf(caller),
    address,
    action: actions[kind],
    target,
    outcome,
    reason,
    input: null,
    before: null,
    after: null,
  };
}

function entryOfChange({ caller, collection, ...change }: Change): AuditEntry {
  const { action, after, before, input, outcome, reason, target } = change;
  return {
    request_id: caller.requestId,
    actor: actorOf(caller),
    address: caller.address,
    action: `${collection}.${action}`,
    target,
    input,
    before,
    after,
    outcome,
    reason,
  };
}

function actorOf({ name, role, tokenId, userId, via }: Caller): AuditActor {
  return { id: userId, name, role, via, token_id: tokenId };
}
