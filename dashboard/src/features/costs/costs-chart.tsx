import { useTranslation } from 'react-i18next';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import { BarChart, type ChartBar } from '../../components/figures/bar-chart.tsx';
import { exactMoney, money, sumOfMoney } from '../../lib/format/numbers.ts';
import { groupId, groupName } from './group-names.ts';
import { endOf, stepLabel, steps, stepsOf } from './ranges.ts';
import type { CostRange, Grouping } from './search.ts';

const colors = ['bg-series-1', 'bg-series-2', 'bg-series-3', 'bg-series-4', 'bg-series-5'];
const REST = '*';

interface CostsChartProps {
  rows: readonly UsageRow[];
  by: Grouping;
  range: CostRange;
  now: number;
  /** Opens the requests between two times; absent for those who may not see them. */
  onOpen?: ((from: string, to: string) => void) | undefined;
}

/** The cost of each step of a range, parted by the dearest groups. */
export function CostsChart({ by, now, onOpen, range, rows }: CostsChartProps) {
  const { i18n, t } = useTranslation('costs');
  const locale = i18n.language;
  const step = steps[range];
  const groups = groupsOf(rows, by);
  const cells = new Map(rows.map((row) => [`${Date.parse(row.from)} ${groupId(row, by)}`, row.cost_usd]));
  const nameOf = (id: string): string => {
    const row = rows.find((one) => groupId(one, by) === id);
    if (id === REST || row === undefined) return t('rest');
    return groupName(row, by) ?? t(`none.${by}`);
  };
  const bars: ChartBar[] = stepsOf(range, now).map((start) => {
    const costs = groups.map((id) => cells.get(`${start} ${id}`) ?? null);
    const label = stepLabel(step, start, locale);
    const parts = groups
      .map((id, index) => ({ name: nameOf(id), cost: costs[index] ?? null }))
      .filter(({ cost }) => cost !== null)
      .map(({ cost, name }) => `${name} ${money(cost, locale)}`);
    const sum = sumOfMoney(costs) ?? 0;
    return {
      key: new Date(start).toISOString(),
      label,
      description: `${label}: ${exactMoney(sum, locale)}${parts.length > 1 ? ` (${parts.join(', ')})` : ''}`,
      values: costs.map((cost) => cost ?? 0),
    };
  });
  return (
    <BarChart
      label={t('chart.label')}
      bars={bars}
      series={groups.map((id, index) => ({
        name: nameOf(id),
        className: id === REST ? 'bg-series-6' : (colors[index] ?? 'bg-series-6'),
      }))}
      format={(value) => money(value, locale)}
      height={200}
      {...(onOpen === undefined
        ? {}
        : { onOpen: ({ key }) => onOpen(key, new Date(endOf(step, Date.parse(key))).toISOString()) })}
    />
  );
}

/** The groups, the dearest first and the rest last. */
function groupsOf(rows: readonly UsageRow[], by: Grouping): string[] {
  const sums = new Map<string, number>();
  for (const row of rows) {
    const id = groupId(row, by);
    sums.set(id, (sums.get(id) ?? 0) + (row.cost_usd ?? 0));
  }
  return [...sums]
    .sort(([a, one], [b, other]) => Number(a === REST) - Number(b === REST) || other - one)
    .map(([id]) => id);
}
