import { outputCapOf, toldCap } from '../../codecs/adapt/output-cap.ts';
import { parseObject } from '../../codecs/json/values.ts';
import type { Target } from '../../combos/resolve.ts';
import type { GatewayError } from '../../lib/error.ts';
import type { Call } from '../dispatch/call.ts';

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

/** What a call may ask of its target, for its own length or as is known of its model; null for anything. */
export function outputCap(caps: OutputCaps, { outputCap: told, target }: Call): number | null {
  return told?.target === target ? told.most : knownCap(caps, target);
}

/** The most that a target's model writes, as the target said it or else as the catalogue does; null where neither knows. */
export function knownCap(caps: OutputCaps, target: Target): number | null {
  return caps.of(target) ?? target.outputLimit ?? null;
}

/**
 * Notes the most that the call's target says it would write. True when the call, a translated one that asked for more,
 * may be tried with that: what the caller wrote for this very format itself is never changed.
 */
export function learnedCap(caps: OutputCaps, call: Call, error: GatewayError): boolean {
  const { outputCap: told, target, translated } = call;
  if (translated === null || (error.status !== 400 && error.status !== 422) || told?.target === target)
    return false;
  const asked = outputCapOf(target.format, parseObject(translated.body.toString('utf8')) ?? {});
  const learned = asked === null ? null : toldCap(error.message, asked.cap);
  if (learned === null) return false;
  call.outputCap = { target, most: learned.most };
  if (learned.lasting) caps.set(target, learned.most);
  return true;
}
