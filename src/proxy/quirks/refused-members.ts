import { isOfMessages, refusedMember } from '../../codecs/adapt/optional-members.ts';
import { parseObject } from '../../codecs/json/values.ts';
import type { Target } from '../../combos/resolve.ts';
import type { GatewayError } from '../../lib/error.ts';
import type { Call } from '../dispatch/call.ts';
import { joined } from '../metering/meter.ts';

/** Members of requests that targets have refused, so that the next request is right at once. In memory alone. */
export interface RefusedMembers {
  of(target: Target): readonly string[];
  add(target: Target, member: string): void;
}

/** Targets that are remembered; the one that was learned first is forgotten first. */
const MAX_TARGETS = 500;

export function createRefusedMembers(): RefusedMembers {
  const known = new Map<string, readonly string[]>();
  const nameOf = ({ connection, format, model }: Target) => `${connection.id} ${format} ${model}`;
  return {
    of: (target) => known.get(nameOf(target)) ?? none,
    add(target, member) {
      const name = nameOf(target);
      known.set(name, [...(known.get(name) ?? []), member]);
      const [first] = known.keys();
      if (known.size > MAX_TARGETS && first !== undefined) known.delete(first);
    },
  };
}

const none: readonly string[] = [];

/**
 * Notes what the call's target says it does not take. True when the call may be tried without it: of what the caller wrote
 * for this very format itself, only what earlier messages bear since another server answered.
 */
export function learnedRefusal(refused: RefusedMembers, call: Call, error: GatewayError): boolean {
  if (error.status !== 400 && error.status !== 422) return false;
  const { target, translated, upload } = call;
  if (upload !== null) return false;
  const request = parseObject((translated?.body ?? joined(call.body)).toString('utf8'));
  const among = translated === null ? isOfMessages : undefined;
  const member = request === null ? null : refusedMember(target.format, request, error.message, among);
  if (member === null || refused.of(call.target).includes(member)) return false;
  refused.add(call.target, member);
  return true;
}
