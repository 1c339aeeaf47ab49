import { isSecretName, REDACTED, withoutSecretForms } from '../../lib/secrets/secrets.ts';
import type { AuditEntry } from './schema.ts';

/**
 * The second line of defence: those who tell the log of a change leave secrets out, and what they overlook is masked
 * here, by the name of the field and by how known secrets look. It also bounds what one record can hold.
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

function value(input: unknown, depth: number, isSecret: boolean): unknown {
  if (typeof input === 'string') return isSecret ? REDACTED : text(input);
  if (typeof input === 'bigint') return String(input);
  if (typeof input !== 'object' || input === null) return input ?? null;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (Array.isArray(input)) {
    const maskedItems = input.slice(0, MAX_MEMBERS).map((one) => value(one, depth + 1, isSecret));
    return input.length > MAX_MEMBERS
      ? [...maskedItems, `[${input.length - MAX_MEMBERS} more]`]
      : maskedItems;
  }
  const all = Object.entries(input);
  const maskedMembers = all
    .slice(0, MAX_MEMBERS)
    .map(([name, member]) => [plainName(name), value(member, depth + 1, isSecret || isSecretName(name))]);
  if (all.length > MAX_MEMBERS) maskedMembers.push(['…', `[${all.length - MAX_MEMBERS} more]`]);
  return Object.fromEntries(maskedMembers);
}

/** Not the name by which JavaScript reaches a prototype: readers of JSON drop such fields. */
function plainName(name: string): string {
  return name === '__proto__' ? '[__proto__]' : text(name);
}

function text(input: string): string {
  // What is longer than any text kept is cut first, so that no pattern has to look through it.
  const cut = input.length > MAX_TEXT ? `${input.slice(0, MAX_TEXT)}… [${input.length} characters]` : input;
  return withoutSecretForms(cut).toWellFormed();
}

function textOrNull(input: string | null): string | null {
  return input === null ? null : text(input);
}
