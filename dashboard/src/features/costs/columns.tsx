import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import { Count, ExactMoney } from '../../components/figures/amounts.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { RowName } from '../../components/tables/row-name.tsx';
import { groupName, requestsOfGroup } from './group-names.ts';
import { type CountField, decimalsIn, type MoneyField, type Totals } from './lines.ts';
import type { Grouping } from './search.ts';

interface ColumnsInput {
  t: TFunction<'costs'>;
  rows: readonly UsageRow[];
  totals: Totals;
  groupings: readonly Grouping[];
  /** Null for those who may not see requests. */
  requestsFrom: string | null;
}

/** The columns of a table of costs: the names of the groups, then their figures, each with its total. */
export function costColumns({
  groupings,
  requestsFrom,
  rows,
  t,
  totals,
}: ColumnsInput): readonly Column<UsageRow>[] {
  const hasPlans = totals.plan_usd !== null;
  const money = (field: MoneyField, hidden = false): Column<UsageRow> => {
    const decimals = decimalsIn(rows, field);
    return {
      id: field,
      header: t(`column.${field}`),
      cell: (row) => (
        <ExactMoney value={row[field]} decimals={decimals} unknown={t(`unknown.${unknownOf(field)}`)} />
      ),
      sortBy: (row) => row[field],
      align: 'end',
      hidden,
      footer: (
        <ExactMoney value={totals[field]} decimals={decimals} unknown={t(`unknown.${unknownOf(field)}`)} />
      ),
      ...(field === 'cost_usd' ? { narrow: true } : {}),
    };
  };
  const count = (field: CountField, hidden = false): Column<UsageRow> => ({
    id: field,
    header: t(`column.${field}`),
    cell: (row) => <Count value={row[field]} />,
    sortBy: (row) => row[field],
    align: 'end',
    hidden,
    footer: <Count value={totals[field]} />,
  });
  return [
    ...groupings.map(
      (by, index): Column<UsageRow> => ({
        id: by,
        header: t(`by.${by}`),
        cell: (row) => {
          const name =
            row.rest_groups > 0
              ? index === 0
                ? t('others', { count: row.rest_groups })
                : ''
              : groupName(row, by);
          if (name === null || row.rest_groups > 0)
            return <span className="text-muted">{name ?? t(`none.${by}`)}</span>;
          return <RowName className="font-medium max-sm:max-w-32">{name}</RowName>;
        },
        sortBy: (row) => (row.rest_groups > 0 ? null : (groupName(row, by)?.toLowerCase() ?? null)),
        narrow: true,
        ...(index === 0 ? { footer: t('total') } : {}),
      }),
    ),
    ...(hasPlans ? [money('billed_usd'), money('plan_usd')] : []),
    money('cost_usd'),
    count('requests'),
    count('failed', true),
    count('input_tokens'),
    count('output_tokens'),
    money('cache_savings_usd', hasPlans),
    money('routing_savings_usd', true),
    count('unpriced', true),
    ...(requestsFrom === null
      ? []
      : [
          {
            id: 'open',
            header: '',
            cell: (row: UsageRow) =>
              row.rest_groups > 0 ? null : (
                <Link
                  to="/requests"
                  search={{
                    from: requestsFrom,
                    ...Object.fromEntries(
                      groupings.flatMap((by) => Object.entries(requestsOfGroup(row, by))),
                    ),
                  }}
                  className="text-accent hover:underline"
                >
                  {t('requests')}
                </Link>
              ),
            align: 'end' as const,
          },
        ]),
  ];
}

function unknownOf(field: MoneyField): 'price' | 'plan' | 'savings' {
  if (field === 'plan_usd' || field === 'billed_usd') return 'plan';
  return field === 'cost_usd' ? 'price' : 'savings';
}
