import { isSecretName, REDACTED, withoutSecretForms } from '../../lib/secrets/secrets.ts';
import type { AuditEntry } from './schema.ts';

/**
 * The second line of defence: those who tell the log of a change leave secrets out, and what they overlook is masked
 * here, by the name of the member and by how known secrets look. It also bounds what one record can hold.
 */

const MAX_TEXT = 2000;
const MAX_MEMBERS = 100;
const MAX_DEPTH = 8;
/** Characters of each of input, before and after. */
const MAX_SIZE = 65_536;

export function masked(entry: AuditEntry): AuditEntry {
  return {
    ...entry,
    request_id: textOrNull(entry.request_id),
    actor: { ...entry.actor, name: textOrNull(entry.actor.name) },
    address: textOrNull(entry.address),
    action: text(entry.action),
    target: textOrNull(entry.target),
    input: members(entry.input),
    before: members(entry.before),
    after: members(entry.after),
    reason: textOrNull(entry.reason),
  };
}

function members(record: Record<string, unknown> | null): Record<string, unknown> | null {
  if (record === null) return null;
  const masked = value(record, 0, false) as Record<string, unknown>;
  const size = JSON.stringify(masked).length;
  return size > MAX_SIZE ? { '…': `[${size} characters]` } : masked;
}

function value(given: unknown, depth: number, isSecret: boolean): unknown {
  if (typeof given === 'string') return isSecret ? REDACTED : text(given);
  if (typeof given === 'bigint') return String(given);
  if (typeof given !== 'object' || given === null) return given ?? null;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (Array.isArray(given)) {
    const maskedItems = given.slice(0, MAX_MEMBERS).map((one) => value(one, depth + 1, isSecret));
    return given.length > MAX_MEMBERS
      ? [...maskedItems, `[${given.length - MAX_MEMBERS} more]`]
      : maskedItems;
  }
  const all = Object.entries(given);
  const maskedMembers = all
    .slice(0, MAX_MEMBERS)
    .map(([name, member]) => [plainName(name), value(member, depth + 1, isSecret || isSecretName(name))]);
  if (all.length > MAX_MEMBERS) maskedMembers.push(['…', `[${all.length - MAX_MEMBERS} more]`]);
  return Object.fromEntries(maskedMembers);
}

/** Not the name by which JavaScript reaches a prototype: readers of JSON drop such members. */
function plainName(name: string): string {
  return name === '__proto__' ? '[__proto__]' : text(name);
}

function text(given: string): string {
  // What is longer than any text kept is cut first, so that no pattern has to look through it.
  const cut = given.length > MAX_TEXT ? `${given.slice(0, MAX_TEXT)}… [${given.length} characters]` : given;
  return withoutSecretForms(cut).toWellFormed();
}

function textOrNull(given: string | null): string | null {
  return given === null ? null : text(given);
}
