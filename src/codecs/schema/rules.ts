/** What a target takes as the schema of a tool or of an answer. */
export interface SchemaRules {
  /** The only keywords that it supports; null where it accepts all that are not in `refused`. */
  keywords: ReadonlySet<string> | null;
  refused: ReadonlySet<string>;
  /** The values of `format` that it takes; null for any. */
  formats: ReadonlySet<string> | null;
  /**
   * `inline`: no `$ref`. A schema that holds itself is cut where it comes a second time within itself. `recursive`: only in
   * such a schema, alone and to `$defs`.
   */
  references: 'keep' | 'inline' | 'recursive';
  /** `object`: an object at the root, and no other schemas to combine it with. */
  root: 'any' | 'object';
  /** `list`: a schema may name several types. `one`: one, and `nulls` shows how null is allowed. */
  types: 'list' | 'one';
  /** How a schema of one type allows null as well. */
  nulls: 'keyword' | 'branch';
  /** Whether every schema must say its type. */
  typed: boolean;
  upperTypes: boolean;
  /** Whether only texts may be enumerated. */
  textEnums: boolean;
  /** Whether `anyOf` suffers no constraint beside it. */
  unionAlone: boolean;
  /** Whether an array must say what is in it. */
  itemsNeeded: boolean;
  /** Whether objects that do not say so are closed, so that those of any properties must. */
  closesObjects: boolean;
  /** Whether only declared properties may be required. */
  declaredOnly: boolean;
  /** The largest bound on lengths of texts and arrays; null for any. */
  largestBound: number | null;
  /** What `strict: true` may not have; null where the flag is the target's own business. */
  strictRefused: ReadonlySet<string> | null;
}

const none: ReadonlySet<string> = new Set();

/** Takes any schema: nothing is changed. */
export const full: SchemaRules = {
  keywords: null,
  refused: none,
  formats: null,
  references: 'keep',
  root: 'any',
  types: 'list',
  nulls: 'keyword',
  typed: false,
  upperTypes: false,
  textEnums: false,
  unionAlone: false,
  itemsNeeded: false,
  closesObjects: false,
  declaredOnly: false,
  largestBound: null,
  strictRefused: null,
};

/** Whether the target takes the keyword. */
export function accepts({ keywords, refused }: SchemaRules, keyword: string): boolean {
  return (keywords === null || keywords.has(keyword)) && !refused.has(keyword);
}
