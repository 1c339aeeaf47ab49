import type { CompiledQuery } from 'kysely';

/** Whether a statement only reads, so that it needs no transaction and no lock. What cannot be told for certain counts as writing. */
export function isReading({ query, sql }: Pick<CompiledQuery, 'query' | 'sql'>): boolean {
  if (query.kind === 'SelectQueryNode' && query.with === undefined) return true;
  // The common table expressions of a query may be statements that write.
  return query.kind === 'SelectQueryNode' || query.kind === 'RawNode' ? isReadingText(sql) : false;
}

/** The statement with a space for each text, quoted name and comment: whatever they contain is no keyword. */
function withoutLiterals(sql: string): string {
  let rest = '';
  let at = 0;
  while (at < sql.length) {
    const end = literalEnd(sql, at);
    rest += end === -1 ? sql[at] : ' ';
    at = end === -1 ? at + 1 : end;
  }
  return rest;
}

const DOLLAR_QUOTE = /\$(?:[a-z_][a-z_0-9]*)?\$/iy;

/** The index behind the literal that begins at `at`; -1 where none does. A quote that is written twice ends one and begins the next. */
function literalEnd(sql: string, at: number): number {
  const begin = sql.slice(at, at + 2);
  if (begin === '--') return behind(sql, '\n', at);
  if (begin === '/*') return behind(sql, '*/', at + 2);
  const [first = ''] = begin;
  if (first === "'" || first === '"') return behind(sql, first, at + 1);
  if (first !== '$') return -1;
  DOLLAR_QUOTE.lastIndex = at;
  const [quote] = DOLLAR_QUOTE.exec(sql) ?? [];
  return quote === undefined ? -1 : behind(sql, quote, at + quote.length);
}

/** The index behind the next `end`; that behind the statement where there is none. */
function behind(sql: string, end: string, from: number): number {
  const at = sql.indexOf(end, from);
  return at === -1 ? sql.length : at + end.length;
}

function isReadingText(text: string): boolean {
  const words = withoutLiterals(text).toLowerCase();
  const [, first = ''] = /^[\s(]*([a-z]+)/.exec(words) ?? [];
  switch (first) {
    case 'select':
    case 'show':
    case 'table':
    case 'values':
      return true;
    case 'with':
      return !/\b(?:insert|update|delete|merge)\b/.test(words);
    case 'explain':
      // With `analyze` the statement is run.
      return (
        !/\banalyze\b/.test(words) || !/\b(?:insert|update|delete|merge|create|refresh|execute)\b/.test(words)
      );
    default:
      return false;
  }
}
