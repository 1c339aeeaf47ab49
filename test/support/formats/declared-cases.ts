import type { Declared, DeclaredTypes, Member } from './declared-types.ts';

/** Two values that differ in one member. `without` lacks it, or says something else where it may not be missing. */
export interface MemberCase {
  path: string[];
  /** The `type` of each object on the way to it. */
  kinds: string[];
  with: unknown;
  without: unknown;
}

/** Values for members of these names, which more is expected of than their type tells. */
export type Hints = Readonly<Record<string, unknown>>;

/** Members without which an object of a type is none, although the SDK lets them be missing; by the type's name. */
export type Needed = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Words that say what silence says as well. */
const usual: ReadonlySet<unknown> = new Set([
  null,
  'auto',
  'default',
  'none',
  'standard',
  'standard_only',
  'text',
  false,
]);

interface Sampling {
  types: DeclaredTypes;
  hints: Hints;
  needed: Needed;
}

/**
 * A case for each member of a type, at every depth and in every alternative of a union. A type that holds itself is
 * gone into once.
 */
export class MemberCases {
  readonly #types: DeclaredTypes;
  readonly #hints: Hints;
  readonly #needed: Needed;
  #count = 0;

  constructor({ hints, needed, types }: Sampling) {
    this.#needed = needed;
    this.#types = types;
    this.#hints = hints;
  }

  of(type: Declared, inside: readonly string[] = []): MemberCase[] {
    const known = this.#known(type, inside);
    if (known === null) return [];
    const { resolved, within } = known;
    switch (resolved.kind) {
      case 'union':
        return resolved.of.flatMap((one) => this.of(one, within));
      case 'array':
        return this.of(resolved.of, within).map((one) => ({
          ...one,
          with: [one.with],
          without: [one.without],
        }));
      case 'object':
      case 'both':
        return this.#ofObject(resolved, within);
      default:
        return [];
    }
  }

  #ofObject(type: Declared, inside: readonly string[]): MemberCase[] {
    const members = this.#membersOf(type, inside);
    const base = this.#base(members, inside);
    return members.flatMap((member): MemberCase[] => {
      const { isOptional, name, type: own } = member;
      const value = name in base ? base[name] : this.#sample(name, own, inside);
      const kinds = typeof base['type'] === 'string' ? [base['type']] : [];
      const inner = this.of(own, inside).map((one) => ({
        path: [name, ...one.path],
        kinds: [...kinds, ...one.kinds],
        with: { ...base, [name]: one.with },
        without: { ...base, [name]: one.without },
      }));
      if (value === undefined) return inner;
      const { [name]: _, ...others } = base;
      if (isOptional && !this.#isNeeded(name, inside))
        return [{ path: [name], kinds, with: { ...base, [name]: value }, without: others }, ...inner];
      const other = this.#sample(name, own, inside);
      const differs = JSON.stringify(other) !== JSON.stringify(value);
      return [
        ...(differs
          ? [{ path: [name], kinds, with: { ...base, [name]: value }, without: { ...base, [name]: other } }]
          : []),
        ...inner,
      ];
    });
  }

  #base(members: readonly Member[], inside: readonly string[]): Record<string, unknown> {
    const needed = members.filter(({ isOptional }) => !isOptional);
    return {
      ...Object.fromEntries(needed.map(({ name, type }) => [name, this.#sample(name, type, inside)])),
      ...this.#needed[inside.at(-1) ?? ''],
    };
  }

  #isNeeded(name: string, inside: readonly string[]): boolean {
    return Object.hasOwn(this.#needed[inside.at(-1) ?? ''] ?? {}, name);
  }

  #membersOf(type: Declared, inside: readonly string[]): Member[] {
    if (type.kind === 'both') {
      const all = type.of.flatMap((one) => {
        const known = this.#known(one, inside);
        return known === null ? [] : this.#membersOf(known.resolved, known.within);
      });
      return all;
    }
    if (type.kind !== 'object') return [];
    const own = new Set(type.members.map(({ name }) => name));
    const inherited = type.extended.flatMap((one) => {
      const known = this.#known(one, inside);
      return known === null ? [] : this.#membersOf(known.resolved, known.within);
    });
    return [...type.members, ...inherited.filter(({ name }) => !own.has(name))];
  }

  /** The type behind a name; null for one that is gone into already. */
  #known(
    type: Declared,
    inside: readonly string[],
  ): { resolved: Declared; within: readonly string[] } | null {
    let resolved = type;
    let within = inside;
    while (resolved.kind === 'name') {
      if (within.includes(resolved.name)) return null;
      within = [...within, resolved.name];
      resolved = this.#types.resolve(resolved);
    }
    return { resolved, within };
  }

  /** A value of the type, another each time where it is a text or a number; undefined for a type within itself. */
  #sample(name: string, type: Declared, inside: readonly string[]): unknown {
    if (Object.hasOwn(this.#hints, name)) return this.#hints[name];
    const known = this.#known(type, inside);
    if (known === null) return undefined;
    const { resolved, within } = known;
    switch (resolved.kind) {
      case 'string':
        this.#count += 1;
        return `zq${name}${this.#count}`;
      case 'number':
        this.#count += 1;
        return 2 + (this.#count % 2);
      case 'boolean':
        return true;
      case 'literal':
        return resolved.value;
      case 'any':
        this.#count += 1;
        return { zq: `any${this.#count}` };
      case 'array': {
        const one = this.#sample(name, resolved.of, within);
        return one === undefined ? [] : [one];
      }
      case 'union':
        return this.#ofUnion(name, resolved.of, within);
      case 'object': {
        const members = this.#membersOf(resolved, within);
        const entry = resolved.index === null ? {} : { zq: this.#sample('value', resolved.index, within) };
        return { ...entry, ...this.#base(members, within) };
      }
      case 'both':
        return this.#base(this.#membersOf(resolved, within), within);
      default:
        return undefined;
    }
  }

  #ofUnion(name: string, of: readonly Declared[], inside: readonly string[]): unknown {
    const samples = of.map((one) => this.#sample(name, one, inside)).filter((one) => one !== undefined);
    return samples.find((one) => !usual.has(one)) ?? samples[0];
  }
}
