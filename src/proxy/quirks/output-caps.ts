import { outputCapOf, reportedOutputCap } from '../../codecs/adapt/output-cap.ts';
import { codecOf } from '../../codecs/index.ts';
import { parseObject } from '../../codecs/json/values.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import type { GatewayError } from '../../lib/error.ts';
import { joined } from '../json/joined.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';

/** The most that targets said their models write, so that the next request is right at once. In memory alone. */
export interface OutputCaps {
  /** Null where none is known. */
  of(target: Target): number | null;
  set(target: Target, outputCap: number): void;
}

/** Targets that are remembered; the one that was learned first is forgotten first. */
const MAX_TARGETS = 500;

export function createOutputCaps(): OutputCaps {
  const capByTarget = new Map<string, number>();
  const nameOf = ({ connection, format, model }: Target) => `${connection.id} ${format} ${model}`;
  return {
    of: (target) => capByTarget.get(nameOf(target)) ?? null,
    set(target, outputCap) {
      capByTarget.set(nameOf(target), outputCap);
      const [first] = capByTarget.keys();
      if (capByTarget.size > MAX_TARGETS && first !== undefined) capByTarget.delete(first);
    },
  };
}

/**
 * The most that a target's model writes, as the target reported it or else by the catalogue; null where neither has it.
 */
export function rememberedOutputCap(caps: OutputCaps, target: Target): number | null {
  return caps.of(target) ?? target.outputLimit ?? null;
}

/**
 * The most that the target of a request says it would write, where the request is a translated one that asked for more, and
 * may be sent again with that: what the client wrote for this very format itself is never changed. Null for any other
 * error. It is noted where it holds for every request.
 */
export function learnOutputCap(
  caps: OutputCaps,
  { body, outputCap, target, translation }: OutgoingRequest,
  error: GatewayError,
): number | null {
  if (translation === null || outputCap !== null) return null;
  const requested = outputCapOf(codecOf(target.format), parseObject(joined(body).toString('utf8')) ?? {});
  const reported = requested === null ? null : reportedOutputCap(error.message, requested.cap);
  if (reported === null) return null;
  if (reported.lasting) caps.set(target, reported.outputCap);
  return reported.outputCap;
}
