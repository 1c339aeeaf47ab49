import type { MatchRule, PriceRow, Seller } from './schema.ts';

/** Finds the row that prices a model id, or null. Ids compare without regard to case. */
export type RowFinder = (model: string) => PriceRow | null;

/**
 * Prepares one seller's rows for look-up: ids that a row names in full are found in a map and win over every pattern;
 * then patterns are tried in the order of the table. Regular expressions are compiled here, once.
 */
export function rowFinder(seller: Seller): RowFinder {
  const exact = new Map<string, PriceRow>();
  const patterns: { row: PriceRow; test: (id: string) => boolean }[] = [];
  for (const row of seller.models) {
    const rule = row.match ?? `=${row.id.toLowerCase()}`;
    for (const id of exactIds(rule)) if (!exact.has(id)) exact.set(id, row);
    const rest = withoutExact(rule);
    if (rest !== null) patterns.push({ row, test: compile(rest) });
  }
  const find = (id: string) => exact.get(id) ?? patterns.find(({ test }) => test(id))?.row ?? null;
  return (model) => {
    const lower = model.trim().toLowerCase();
    const id = seller.prefix && lower.startsWith(seller.prefix) ? lower.slice(seller.prefix.length) : lower;
    return find(id) ?? find(dashedDate(id));
  };
}

function exactIds(rule: MatchRule): string[] {
  if (typeof rule === 'string') return rule.startsWith('=') ? [rule.slice(1)] : [];
  return isAll(rule) ? [] : rule.flatMap(exactIds);
}

function withoutExact(rule: MatchRule): MatchRule | null {
  if (typeof rule === 'string') return rule.startsWith('=') ? null : rule;
  if (isAll(rule)) return rule;
  const rest = rule.filter((part) => typeof part !== 'string' || !part.startsWith('='));
  return rest.length === 0 ? null : rest;
}

/** Makes a test of a rule. The id must be lower case. */
export function compile(rule: MatchRule): (id: string) => boolean {
  if (typeof rule === 'string') return compileOne(rule.charAt(0), rule.slice(1));
  if (isAll(rule)) {
    const parts = rule.all.map(compile);
    return (id) => parts.every((part) => part(id));
  }
  const parts = rule.map(compile);
  return (id) => parts.some((part) => part(id));
}

function compileOne(operator: string, operand: string): (id: string) => boolean {
  switch (operator) {
    case '=':
      return (id) => id === operand;
    case '^':
      return (id) => id.startsWith(operand) && !nextVersion.test(id.slice(operand.length));
    case '$':
      return (id) => id.endsWith(operand);
    case '*':
      return (id) => id.includes(operand);
    case '/': {
      const expression = new RegExp(operand);
      return (id) => expression.test(id);
    }
    default:
      throw new Error(`unknown operator ${operator} in the price table`);
  }
}

/**
 * What follows a prefix in the id of a later model (`claude-sonnet-5` + `-5`, `.5`): its price is another one, so it
 * counts as unknown. A date (`-09-2025`, `-20250929`) or a name (`-preview`) is no later version.
 */
const nextVersion = /^[.-](?:\d(?!\d)|\d{2}(?!\d)(?!-\d{2,4}(?!\d)))/;

function isAll(rule: MatchRule): rule is { readonly all: readonly MatchRule[] } {
  return typeof rule === 'object' && 'all' in rule;
}

/** `gpt-5-20250807` as `gpt-5-2025-08-07`: providers write the date of a snapshot either way. */
function dashedDate(id: string): string {
  return id.replace(/-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)/g, '-$1-$2-$3');
}
