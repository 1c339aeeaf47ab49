import { isOfMessages } from '../../codecs/adapt/optional-fields.ts';
import { refusedField } from '../../codecs/adapt/refused-field.ts';
import { parseObject } from '../../codecs/json/values.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import type { GatewayError } from '../../lib/error.ts';
import { joined } from '../json/joined.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';

/** Fields of requests that targets have refused, so that the next request is right at once. In memory alone. */
export interface RefusedFields {
  of(target: Target): readonly string[];
  add(target: Target, field: string): void;
}

/** Targets that are remembered; the one that was learned first is forgotten first. */
const MAX_TARGETS = 500;

export function createRefusedFields(): RefusedFields {
  const fieldsByTarget = new Map<string, readonly string[]>();
  const nameOf = ({ connection, format, model }: Target) => `${connection.id} ${format} ${model}`;
  return {
    of: (target) => fieldsByTarget.get(nameOf(target)) ?? none,
    add(target, field) {
      const name = nameOf(target);
      fieldsByTarget.set(name, [...(fieldsByTarget.get(name) ?? []), field]);
      const [first] = fieldsByTarget.keys();
      if (fieldsByTarget.size > MAX_TARGETS && first !== undefined) fieldsByTarget.delete(first);
    },
  };
}

const none: readonly string[] = [];

/**
 * Notes what the target of a request says it does not take. True when the request may be made without it: of what the client
 * wrote for this very format itself, only what earlier messages bear since another server answered.
 */
export function learnRefusedField(
  refusedFields: RefusedFields,
  { clientBody, body, target, translation }: OutgoingRequest,
  error: GatewayError,
): boolean {
  const request = parseObject(joined(translation === null ? clientBody : body).toString('utf8'));
  const isCandidate = translation === null ? isOfMessages : undefined;
  const field = request === null ? null : refusedField(target.format, request, error.message, isCandidate);
  if (field === null || refusedFields.of(target).includes(field)) return false;
  refusedFields.add(target, field);
  return true;
}
