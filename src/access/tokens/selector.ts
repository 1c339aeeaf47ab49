import { z } from 'zod';
import type { Row } from '../../http/resource.ts';

/** Which members of a collection a token reaches: those with a value in an attribute. */
interface Selector {
  collection: string;
  /** `id`, `name`, `kind` or `labels`. */
  attribute: string;
  /** The label's name; null where the attribute is none. */
  label: string | null;
  value: string;
}

const form = /^([a-z_]+):(?:(id|name|kind)|(labels)\.([A-Za-z0-9][A-Za-z0-9._/-]{0,62}))=(.{1,200})$/su;

/** As it is written: `services:id=mcp`, `services:labels.team=search`. */
export const selectorText = z
  .string()
  .regex(form, 'a selector is written like services:id=mcp or services:labels.team=search');

/** The collection that a selector, as it is written, is about; null where it is no selector. */
export function collectionOf(selector: string): string | null {
  return parse(selector)?.collection ?? null;
}

/** The members that a token with selectors may reach. Several selectors of one collection add up; a collection without any is not narrowed. */
export function tokenScope(selectors: readonly string[] | null) {
  const parsed = (selectors ?? []).map(parse);
  const about = (collection: string) =>
    parsed.filter((selector) => selector === null || selector.collection === collection);
  return {
    narrowed: (collection: string): boolean => about(collection).length > 0,
    reaches(collection: string, row: Row): boolean {
      const chosen = about(collection);
      return chosen.length === 0 || chosen.some((selector) => selector !== null && fits(selector, row));
    },
  };
}

/** Null for a text that this version cannot read, which fits nothing. */
function parse(text: string): Selector | null {
  const [, collection, plain, labels, label, value] = form.exec(text) ?? [];
  if (collection === undefined || value === undefined) return null;
  return { collection, attribute: plain ?? labels ?? '', label: label ?? null, value };
}

function fits({ attribute, label, value }: Selector, row: Row): boolean {
  const attributeValue = row[attribute];
  if (label === null) return attributeValue === value;
  return (
    typeof attributeValue === 'object' &&
    attributeValue !== null &&
    new Map(Object.entries(attributeValue)).get(label) === value
  );
}
