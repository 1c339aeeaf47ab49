import { wordsOf } from '../adapt/adapt.ts';
import { type Concept, concepts, untranslatable } from '../model/concept.ts';
import { codecOf } from './codec-of.ts';
import { withTranslationErrors } from './error.ts';
import type { Format } from './format.ts';

/** What becomes of one thing that a request may ask for. */
export interface CompatibilityRow {
  /** What it is, in a word of this library: `seed`, `schemaOutput`. */
  readonly concept: string;
  /** The field that asks for it in the client's format: `response_format`. */
  readonly from: string;
  /** The field that asks for it in the upstream's format; null where it has none. */
  readonly to: string | null;
  /**
   * `carried`: the upstream is asked for it. `dropped`: it is left out, and named in `dropped`. `refused`: the request is, with
   * `not_translatable`. `enforced`: the answer is held to it. `in-text`: it is said in the text of the conversation.
   */
  readonly outcome: 'carried' | 'dropped' | 'refused' | 'enforced' | 'in-text';
  /**
   * What carrying it depends on, and null for nothing: it is dropped unless the dialect has `vendorFields` (the format's own
   * vendor is sure to support it), or `cacheFields`. Models that refuse a field by their names are not among these.
   */
  readonly unless: 'vendorFields' | 'cacheFields' | null;
}

const outcomes = { drop: 'dropped', refuse: 'refused', hold: 'enforced', tell: 'in-text' } as const;

/**
 * What requests of one format may ask for, and what becomes of each on the way to another: the table of what the pair
 * cannot carry. Fields that every format has, such as messages, are not listed.
 * @throws TranslationError `format_not_supported`
 */
export function compatibility(from: Format, to: Format): readonly CompatibilityRow[] {
  return withTranslationErrors(() => {
    const words = wordsOf(codecOf(from, 'from').conversation);
    const { names, onTrial = [], vendorOnly } = codecOf(to, 'to').conversation;
    return (Object.keys(concepts) as Concept[]).flatMap((concept): CompatibilityRow[] => {
      const word = words[concept];
      if (word === undefined) return [];
      const name = names[concept] ?? null;
      const row = { concept, from: word, to: name };
      if (untranslatable.includes(concept)) return [{ ...row, outcome: 'refused', unless: null }];
      if (name === null) return [{ ...row, outcome: outcomes[concepts[concept].without], unless: null }];
      const unless = vendorOnly.includes(concept)
        ? 'vendorFields'
        : onTrial.includes(concept)
          ? 'cacheFields'
          : null;
      return [{ ...row, outcome: 'carried', unless }];
    });
  });
}
