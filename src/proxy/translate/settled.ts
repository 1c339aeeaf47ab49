import { listSpan } from './list-span.ts';
import {
  type Beginning,
  beginningOf,
  beginsAndEndsAs,
  type Repeated,
  repeatedIn,
  sizeOf,
  type TranslationRoute,
} from './settled-conversation.ts';
import { type Named, type Translate, translateWith } from './settled-request.ts';

/**
 * Agents send the whole conversation again with every turn. What of it stood in the turn before, is translated no more:
 * the fields beside the turns are read once, and calls with their results, once more of them follow, are kept as the bytes
 * that they were translated to. The translation of the others has an exchange in their place that stands for them, and
 * goes through all the steps that every translation goes through.
 */

/** Bytes that all kept conversations take together, as they are counted: text once, and what was read of it twice more. */
const MAX_BYTES = 6_000_000;

/** Shorter requests cost less to translate than to remember. */
const LEAST_BYTES = 4_096;

/** Conversations of which the beginning was translated before. In memory alone, the last used up to a bound. */
export interface SettledTurns {
  /**
   * The request translated; null where nothing of it is stored. What `translate` throws comes out: another translation
   * may know more of it.
   */
  translate<T extends Named>(
    body: Buffer,
    route: TranslationRoute,
    translate: Translate<T>,
  ): { body: readonly Buffer[]; rest: T } | null;
  /** Takes note of a request that was translated whole. */
  note(body: Buffer, route: TranslationRoute): void;
  /** Bytes of everything that is kept, as they are counted. */
  readonly bytes: number;
  /** Calls in settled exchanges. */
  readonly exchanges: number;
}

/** @param maxBytes of all that is kept */
export function createSettledTurns(maxBytes = MAX_BYTES): SettledTurns {
  // A Map keeps its order of insertion: the first one is the one that was not used for the longest time.
  const conversations = new Map<Beginning, number>();
  let bytes = 0;
  const drop = (one: Beginning) => {
    bytes -= conversations.get(one) ?? 0;
    conversations.delete(one);
  };
  const keep = (one: Beginning) => {
    drop(one);
    const size = sizeOf(one);
    if (size > maxBytes) return;
    conversations.set(one, size);
    bytes += size;
    for (const oldest of conversations.keys()) {
      if (bytes <= maxBytes) return;
      drop(oldest);
    }
  };
  return {
    translate(body, route, translate) {
      if (body.length < LEAST_BYTES) return null;
      const longest = longestOf(conversations.keys(), body, route);
      if (longest === null) return null;
      const { beginning, repeated } = longest;
      drop(beginning);
      const translated = translateWith(beginning, body, route, translate, repeated);
      if (translated !== null) keep(beginning);
      return translated;
    },
    note(body, route) {
      const span = body.length < LEAST_BYTES ? null : listSpan(body, route.shape.list);
      if (span === null) return;
      keep(beginningOf(body, route, span));
    },
    get bytes() {
      return bytes;
    },
    get exchanges() {
      return [...conversations.keys()].reduce((sum, { calls }) => sum + calls.size, 0);
    },
  };
}

/** The conversation that the body continues; of several the one of which it repeats most. */
function longestOf(
  conversations: Iterable<Beginning>,
  body: Buffer,
  route: TranslationRoute,
): { beginning: Beginning; repeated: Repeated } | null {
  let longest: { beginning: Beginning; repeated: Repeated } | null = null;
  for (const one of conversations) {
    if (one.key !== route.key || one.dialect !== route.dialect || !beginsAndEndsAs(one, body)) continue;
    const repeated = repeatedIn(one, body);
    if (longest !== null && repeated.end < longest.repeated.end) continue;
    longest = { beginning: one, repeated };
  }
  return longest;
}
