import type { ConversationCodec } from '../codec.ts';
import { type Concept, concepts, untranslatable } from '../model/concept.ts';
import type { Dialect } from '../model/dialect.ts';

/** What requests in a format may ask a server for, before their model and their content are known. */
export interface TargetWords {
  /** Concepts that the format has a word for and this server refuses. */
  refused: readonly Concept[];
  /** Concepts that can be said there. */
  expressible: ReadonlySet<Concept>;
  /** Concepts that have to be looked for in a conversation, for they cannot be said there: they are left out, or refused. */
  missing: readonly Concept[];
}

/** A dialect is never changed, so that what follows from it is made once. */
const cache = new WeakMap<Dialect, WeakMap<ConversationCodec, TargetWords>>();

/** What this format can express to a server of this dialect. */
export function targetWords(dialect: Dialect, codec: ConversationCodec): TargetWords {
  const existing = cache.get(dialect)?.get(codec);
  if (existing !== undefined) return existing;
  const words = wordsFor(dialect, codec);
  const others = cache.get(dialect);
  if (others === undefined) cache.set(dialect, new WeakMap([[codec, words]]));
  else others.set(codec, words);
  return words;
}

function wordsFor(dialect: Dialect, codec: ConversationCodec): TargetWords {
  const refused = refusedBy(dialect, codec);
  const all = Object.keys(concepts) as Concept[];
  const expressible = new Set(
    all.filter(
      (concept) =>
        codec.names[concept] !== undefined && !untranslatable.includes(concept) && !refused.includes(concept),
    ),
  );
  return {
    refused,
    expressible,
    missing: all.filter((concept) => !expressible.has(concept) && isMissed(concept)),
  };
}

/** Whether a concept that cannot be expressed is lost: others are enforced, or written into the text. */
export function isMissed(concept: Concept): boolean {
  const { without } = concepts[concept];
  return without === 'drop' || without === 'refuse';
}

/** What the format can say and this server refuses. */
function refusedBy(
  { cacheFields, fieldNames, serviceTier, vendorFields }: Dialect,
  { names, onTrial = [], vendorOnly }: ConversationCodec,
): Concept[] {
  const acceptedConcepts: Concept[] = [...(vendorFields ? vendorOnly : []), ...(cacheFields ? onTrial : [])];
  if (serviceTier) acceptedConcepts.push('serviceTier');
  const refused = [...vendorOnly, ...onTrial].filter((concept) => !acceptedConcepts.includes(concept));
  for (const [name, other] of Object.entries(fieldNames)) {
    if (other !== null) continue;
    if (name === 'user' && !vendorFields) refused.push('userId');
    for (const [concept, word] of Object.entries(names)) if (word === name) refused.push(concept as Concept);
  }
  return refused;
}
