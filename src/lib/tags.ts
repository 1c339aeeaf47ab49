/** Tags of requests: a name alone (`batch`), or `name=value` (`app=claude-code`). Compared by the letter. */

/** Tags that one request may name in its header. */
export const MOST_TAGS = 16;
const MOST_CHARACTERS = 200;

/** What a tag or a label may be called. */
export const tagName = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/;
const tagValue = /^[^\u0000-\u001f\u007f,]+$/;

/** Why a text is no tag, as the end of a sentence; null for one that is. */
export function tagFault(tag: string): string | null {
  const { name, value } = partsOf(tag);
  if (tag.length > MOST_CHARACTERS) return `a tag has at most ${MOST_CHARACTERS} characters`;
  if (!tagName.test(name))
    return 'the name of a tag has 1 to 63 letters, digits and . _ / -, and begins with a letter or digit';
  if (value === null) return null;
  return tagValue.test(value) ? null : 'the value of a tag has no commas and no control characters';
}

/** The name of a tag and its value; null for a name alone. */
export function partsOf(tag: string): { name: string; value: string | null } {
  const equals = tag.indexOf('=');
  if (equals < 0) return { name: tag, value: null };
  return { name: tag.slice(0, equals), value: tag.slice(equals + 1) };
}

/** The tags of a comma-separated list, without blanks around them and without empty ones. */
export function splitTags(list: string): string[] {
  return list
    .split(',')
    .map((tag) => {
      const { name, value } = partsOf(tag);
      return value === null ? name.trim() : `${name.trim()}=${value.trim()}`;
    })
    .filter((tag) => tag !== '');
}

/**
 * Several lists in one, the most trusted first: what an earlier list says of a name hides what later ones say of it, so
 * that each name is in the result once.
 */
export function mergedTags(...lists: readonly (readonly string[])[]): readonly string[] {
  const byName = new Map<string, string>();
  for (const tag of lists.flat()) {
    const { name } = partsOf(tag);
    if (!byName.has(name)) byName.set(name, tag);
  }
  return [...byName.values()];
}
