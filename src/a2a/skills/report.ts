import { GatewayError } from '../../lib/error.ts';
import type { Skill, SkillDeps } from '../skill.ts';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 7;
const MOST_DAYS = 366;
const MOST_ROWS = 1000;
/** Models that the sentence names. */
const NAMED = 3;

type Row = Readonly<Record<string, unknown>>;

/** What was used and spent, and which parts do not work. */
export function reportSkill({ read }: SkillDeps, now: () => number): Skill {
  return {
    needs: 'caller',
    async *run({ identity: { caller }, metadata }) {
      const { days = DEFAULT_DAYS } = metadata;
      if (typeof days !== 'number' || !(days >= 1 && days <= MOST_DAYS) || caller === null)
        throw new GatewayError('invalid_request', `metadata.days must be a number from 1 to ${MOST_DAYS}`);
      const from = new Date(now() - days * DAY_MS).toISOString();
      const params = new URLSearchParams({
        expand: 'resources',
        limit: String(MOST_ROWS),
        sort_by: 'cost_usd',
      });
      params.set('sort_order', 'desc');
      params.append('filter[]', "by='model'");
      params.append('filter[]', `from>='${from}'`);
      const models = rowsOf(await read(caller, '/usage', params));
      const failing = caller.can('services:read') ? await failingParts(read, caller) : [];
      yield { kind: 'text', text: sentencesOf(days, models, failing) };
      yield { kind: 'data', data: { from, models, failing } };
    },
  };
}

async function failingParts(
  read: SkillDeps['read'],
  caller: Parameters<SkillDeps['read']>[0],
): Promise<Row[]> {
  const params = new URLSearchParams({ expand: 'resources', attributes: 'name,state,health.status' });
  params.append('filter[]', "health.status='fail'");
  return rowsOf(await read(caller, '/services', params));
}

function rowsOf({ resources }: Record<string, unknown>): Row[] {
  return Array.isArray(resources) ? (resources as Row[]) : [];
}

function sentencesOf(days: number, models: readonly Row[], failing: readonly Row[]): string {
  const sum = (name: string) => models.reduce((total, row) => total + Number(row[name] ?? 0), 0);
  const unpriced = sum('unpriced');
  const dearest = models
    .filter((row) => Number(row['cost_usd'] ?? 0) > 0)
    .slice(0, NAMED)
    .map((row) => `${String(row['model'])} ${dollars(Number(row['cost_usd']))}`);
  return [
    `Last ${days === 1 ? 'day' : `${days} days`}: ${sum('requests')} requests, ${sum('failed')} failed, ${dollars(sum('cost_usd'))}.`,
    ...(unpriced === 0 ? [] : [`${unpriced} requests have no known price.`]),
    ...(dearest.length === 0 ? [] : [`Most of it: ${dearest.join(', ')}.`]),
    failing.length === 0
      ? 'No service fails.'
      : `Failing: ${failing.map(({ name }) => String(name)).join(', ')}.`,
  ].join(' ');
}

function dollars(usd: number): string {
  return `$${usd.toFixed(2)}`;
}
