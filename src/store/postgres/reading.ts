import type { CompiledQuery } from 'kysely';

/** Whether a statement only reads, so that it needs no transaction and no lock. What cannot be told for certain counts as writing. */
export function isReading({ query, sql }: Pick<CompiledQuery, 'query' | 'sql'>): boolean {
  if (query.kind === 'SelectQueryNode' && query.with === undefined) return true;
  // The common table expressions of a query may be statements that write.
  return query.kind === 'SelectQueryNode' || query.kind === 'RawNode' ? isReadingText(sql) : false;
}

/** Texts, quoted names and comments: whatever they contain is no keyword. */
const literals =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([A-Za-z_][A-Za-z_0-9]*)?\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\//g;

function isReadingText(text: string): boolean {
  const words = text.replace(literals, ' ').toLowerCase();
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
