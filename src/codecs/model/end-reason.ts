import type { EndReason } from './stream-part.ts';

const cuts: ReadonlySet<EndReason> = new Set<EndReason>(['length', 'context-full', 'policy']);

/** Whether an answer that ends for this reason may end inside a call. */
export function cutsOff(reason: EndReason): boolean {
  return cuts.has(reason);
}
