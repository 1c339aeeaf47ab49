import { outputCapOf, reportedOutputCap } from '../../codecs/adapt/output-cap.ts';
import { codecOf } from '../../codecs/index.ts';
import { parseObject } from '../../codecs/json/values.ts';
import type { Target } from '../../combos/resolve.ts';
import type { GatewayError } from '../../lib/error.ts';
import { joined } from '../json/joined.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';

/** The most that targets said their models write, so that the next request is right at once. In memory alone. */
export interface OutputCaps {
  /** Null where none is known. */
  of(target: Target): number | null;
  set(target: Target, most: number): void;
}

/** Targets that are remembered; the one that was learned first is forgotten first. */
const MAX_TARGETS = 500;

export function createOutputCaps(): OutputCaps {
  const known = new Map<string, number>();
  const nameOf = ({ connection, format, model }: Target) => `${connection.id} ${format} ${model}`;
  return {
    of: (target) => known.get(nameOf(target)) ?? null,
    set(target, most) {
      known.set(nameOf(target), most);
      const [first] = known.keys();
      if (known.size > MAX_TARGETS && first !== undefined) known.delete(first);
    },
  };
}

/** The most that a target's model writes, as the target said it or else as the catalogue does; null where neither knows. */
export function knownCap(caps: OutputCaps, target: Target): number | null {
  return caps.of(target) ?? target.outputLimit ?? null;
}

/**
 * The most that the target of a request says it would write, where the request is a translated one that asked for more, and
 * may be sent again with that: what the caller wrote for this very format itself is never changed. Null for any other
 * error. It is noted where it holds for every request.
 */
export function learnedCap(
  caps: OutputCaps,
  { body, most, target, translation }: OutgoingRequest,
  error: GatewayError,
): number | null {
  if (translation === null || most !== null) return null;
  const asked = outputCapOf(codecOf(target.format), parseObject(joined(body).toString('utf8')) ?? {});
  const learned = asked === null ? null : reportedOutputCap(error.message, asked.cap);
  if (learned === null) return null;
  if (learned.lasting) caps.set(target, learned.most);
  return learned.most;
}
