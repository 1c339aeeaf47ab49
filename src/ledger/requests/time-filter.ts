import type { ListQuery } from '../../http/resource.ts';
import type { CountedTime } from '../kept-sums/read-counts.ts';

/** The time that a filter is about; null where it is about anything else. */
export function timeOf(groups: ListQuery['groups']): CountedTime | null {
  const [group = [], ...others] = groups;
  if (others.length > 0) return null;
  let since: number | null = null;
  let before: number | null = null;
  for (const { attribute, operator, value } of group) {
    const at = attribute === 'started_at' && typeof value === 'string' ? Date.parse(value) : Number.NaN;
    if (Number.isNaN(at)) return null;
    switch (operator) {
      case '>=':
      case '>':
        since = Math.max(since ?? 0, operator === '>' ? at + 1 : at);
        break;
      case '<=':
      case '<':
        before = Math.min(before ?? Number.POSITIVE_INFINITY, operator === '<=' ? at + 1 : at);
        break;
      default:
        return null;
    }
  }
  return { since, before };
}
