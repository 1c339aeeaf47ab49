import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Download, Receipt } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import { Button } from '../../components/controls/button.tsx';
import { Select } from '../../components/controls/field.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { DataTable } from '../../components/tables/data-table.tsx';
import { costColumns } from '../../features/costs/columns.tsx';
import { CostsChart } from '../../features/costs/costs-chart.tsx';
import { costsCsv } from '../../features/costs/csv.ts';
import { totalsOf } from '../../features/costs/lines.ts';
import { groupsQuery, seriesQuery } from '../../features/costs/queries.ts';
import { startOf } from '../../features/costs/ranges.ts';
import { type CostsSearch, costRanges, costsSearch, groupings } from '../../features/costs/search.ts';
import { CostsSummary } from '../../features/costs/summary.tsx';
import { SavedViews } from '../../features/views/saved-views.tsx';
import { useApi } from '../../lib/api/client.ts';
import { reaches, useRole } from '../../lib/api/session.ts';
import { download } from '../../lib/download.ts';
import { useNow } from '../../lib/now.ts';
import { searchOfSort, sortOf } from '../../lib/sort-search.ts';

const route = getRouteApi('/costs');

/** What was spent, by what and over which time: figures, a chart and a table that come to the same. */
export function CostsPage() {
  const { t } = useTranslation('costs');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow();
  const mayRead = reaches(useRole(), 'operator');
  const { by = 'model', range = 'month', within } = search;
  const groups = useQuery(groupsQuery(api, search, now));
  const series = useQuery(seriesQuery(api, search, now));
  const from = new Date(startOf(range, now)).toISOString();
  const change = (next: Partial<CostsSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const choices = groupings
    .filter((one) => mayRead || one !== 'key')
    .map((value) => ({ value: value as string, label: t(`by.${value}`) }));
  const save = (rows: readonly UsageRow[]) =>
    download(
      `costs-by-${[by, within].filter((one) => one !== undefined).join('-')}-from-${from.slice(0, 10)}.csv`,
      'text/csv;charset=utf-8',
      costsCsv(rows, within === undefined ? [by] : [by, within]),
    );
  return (
    <>
      <PageHeader
        title={t('title')}
        subtitle={t('subtitle')}
        actions={
          <>
            <SavedViews
              page="costs"
              search={search}
              onOpen={(view) => void navigate({ search: costsSearch(view) })}
            />
            <Select
              label={t('choose.by')}
              value={by}
              choices={choices}
              onChange={({ target }) =>
                change({ by: target.value as CostsSearch['by'], within: undefined, sort: undefined })
              }
            />
            <Select
              label={t('choose.then')}
              value={within ?? ''}
              choices={[
                { value: '', label: t('choose.noThen') },
                ...choices
                  .filter(({ value }) => value !== by)
                  .map(({ label, value }) => ({ value, label: t('choose.thenBy', { name: label }) })),
              ]}
              onChange={({ target }) =>
                change({ within: target.value === '' ? undefined : (target.value as CostsSearch['within']) })
              }
            />
            <Select
              label={t('choose.range')}
              value={range}
              choices={costRanges.map((value) => ({ value, label: t(`range.${value}`) }))}
              onChange={({ target }) => change({ range: target.value as CostsSearch['range'] })}
            />
          </>
        }
      />
      <QueryState query={groups} height={520}>
        {({ resources }) => {
          const totals = totalsOf(resources);
          return (
            <div className="flex flex-col gap-4">
              <CostsSummary totals={totals} />
              <Panel title={t('chart.title')}>
                <QueryState query={series} height={240}>
                  {({ resources: rows }) => (
                    <CostsChart
                      rows={rows}
                      by={by}
                      range={range}
                      now={now}
                      onOpen={
                        mayRead
                          ? (since, to) => void navigate({ to: '/requests', search: { from: since, to } })
                          : undefined
                      }
                    />
                  )}
                </QueryState>
              </Panel>
              <Panel
                flush
                title={t('table.title')}
                actions={
                  resources.length > 0 && (
                    <Button icon={Download} onClick={() => save(resources)}>
                      {t('csv')}
                    </Button>
                  )
                }
              >
                <DataTable
                  label={t('title')}
                  columns={costColumns({
                    t,
                    rows: resources,
                    totals,
                    groupings: within === undefined ? [by] : [by, within],
                    requestsFrom: mayRead ? from : null,
                  })}
                  rows={resources}
                  rowId={({ id }) => id}
                  sort={sortOf(search) ?? { by: 'cost_usd', descending: true }}
                  onSort={(sort) => change({ sort: undefined, order: undefined, ...searchOfSort(sort) })}
                  empty={
                    <EmptyState icon={Receipt} title={t('empty.title')}>
                      {t('empty.next')}
                    </EmptyState>
                  }
                />
              </Panel>
            </div>
          );
        }}
      </QueryState>
    </>
  );
}
