import type { AliasRecord } from './schema.ts';

/** What stands behind a name. */
export interface AliasMatch {
  /** The alias that said so. */
  alias: string;
  target: string;
}

export interface Aliases {
  /** By the whole name. */
  exact(id: string): AliasMatch | null;
  /** By a pattern of the owner; the one with the longest text beside its `*` wins. */
  pattern(id: string): AliasMatch | null;
  /** By the gateway's own patterns. */
  builtIn(id: string): AliasMatch | null;
  /** Those of the owner, in the order of their names. */
  records: readonly AliasRecord[];
}

/**
 * Ids that tools send and no provider has. They stand behind all that has the id as it is, so that none takes the place
 * of a listed model, a combo or an alias of the owner.
 */
const builtIns: readonly Pick<AliasRecord, 'name' | 'target'>[] = [
  // Claude Code marks a model whose context it takes for a million tokens.
  { name: '*[1m]', target: '*' },
  // Copilot writes Anthropic's models with a dot: claude-sonnet-4.5.
  { name: 'claude-*.*', target: 'claude-*-*' },
];

export function compileAliases(records: readonly AliasRecord[]): Aliases {
  const exact = new Map(
    records.filter(({ name }) => !name.includes('*')).map((one) => [one.name, one.target]),
  );
  const patterns = records.filter(({ name }) => name.includes('*')).sort(byLiteral);
  return {
    exact(id) {
      const target = exact.get(id);
      return target === undefined ? null : { alias: id, target };
    },
    pattern: (id) => firstMatch(patterns, id),
    builtIn: (id) => firstMatch(builtIns, id),
    records: [...records].sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function byLiteral(a: AliasRecord, b: AliasRecord): number {
  const literal = ({ name }: AliasRecord) => name.replaceAll('*', '').length;
  return literal(b) - literal(a) || (a.name < b.name ? -1 : 1);
}

function firstMatch(
  patterns: readonly Pick<AliasRecord, 'name' | 'target'>[],
  id: string,
): AliasMatch | null {
  for (const { name, target } of patterns) {
    const captured = captures(name, id);
    if (captured !== null) return { alias: name, target: filledIn(target, captured) };
  }
  return null;
}

/** What each `*` of the pattern stands for in `id`, each as short as possible; null when it does not fit. Linear in both. */
export function captures(pattern: string, id: string): string[] | null {
  const [head = '', ...rest] = pattern.split('*');
  const tail = rest.pop();
  if (tail === undefined) return pattern === id ? [] : null;
  if (!id.startsWith(head)) return null;
  const end = id.length - tail.length;
  const captured: string[] = [];
  let at = head.length;
  for (const literal of rest) {
    const next = id.indexOf(literal, at);
    if (next === -1) return null;
    captured.push(id.slice(at, next));
    at = next + literal.length;
  }
  if (at > end || !id.endsWith(tail)) return null;
  captured.push(id.slice(at, end));
  return captured;
}

/** The target with each `*` replaced by what stands for it; one more than there are stays empty. */
function filledIn(target: string, captured: readonly string[]): string {
  let index = 0;
  return target.replaceAll('*', () => {
    const text = captured[index] ?? '';
    index += 1;
    return text;
  });
}
