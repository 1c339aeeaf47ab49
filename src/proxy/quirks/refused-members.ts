import { isOfMessages } from '../../codecs/adapt/optional-members.ts';
import { refusedMember } from '../../codecs/adapt/refused-member.ts';
import { parseObject } from '../../codecs/json/values.ts';
import type { Target } from '../../combos/resolve.ts';
import type { GatewayError } from '../../lib/error.ts';
import { joined } from '../json/joined.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';

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
 * Notes what the target of a request says it does not take. True when the request may be made without it: of what the caller
 * wrote for this very format itself, only what earlier messages bear since another server answered.
 */
export function learnedRefusal(
  refused: RefusedMembers,
  { asked, body, target, translation }: OutgoingRequest,
  error: GatewayError,
): boolean {
  const request = parseObject(joined(translation === null ? asked : body).toString('utf8'));
  const among = translation === null ? isOfMessages : undefined;
  const member = request === null ? null : refusedMember(target.format, request, error.message, among);
  if (member === null || refused.of(target).includes(member)) return false;
  refused.add(target, member);
  return true;
}
