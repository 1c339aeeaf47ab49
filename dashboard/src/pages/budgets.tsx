import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { PiggyBank, Plus } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { FilterBox } from '../components/filter-box.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { Panel } from '../components/panel.tsx';
import { QueryState } from '../components/query-state.tsx';
import { Reopened } from '../components/reopened.tsx';
import { BudgetActions } from '../features/budgets/budget-actions.tsx';
import { BudgetForm } from '../features/budgets/budget-form.tsx';
import { budgetColumns, scopeName } from '../features/budgets/columns.tsx';
import { type Budget, budgetsQuery } from '../features/budgets/queries.ts';
import { allows, useApi } from '../lib/api/client.ts';
import { searchOfSort, sortOf } from '../lib/sort-search.ts';

const route = getRouteApi('/budgets');

/** Limits on money, tokens, requests and concurrency, with what is used of each. */
export function BudgetsPage() {
  const { t } = useTranslation('budgets');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const budgets = useQuery(budgetsQuery(api));
  /** What the form is about: a budget, or null for a new one; undefined while it is closed. */
  const [editing, setEditing] = useState<Budget | null | undefined>(undefined);
  const columns = useMemo<readonly Column<Budget>[]>(
    () => [
      ...budgetColumns(t),
      {
        id: 'actions',
        header: '',
        cell: (budget) => <BudgetActions row={budget} onEdit={() => setEditing(budget)} />,
        narrow: true,
        width: '3.5rem',
      },
    ],
    [t],
  );
  const filter = useCallback(
    (q: string) =>
      void navigate({ search: (before) => ({ ...before, q: q === '' ? undefined : q }), replace: true }),
    [navigate],
  );
  const wanted = (search.q ?? '').toLowerCase();
  return (
    <>
      <PageHeader
        title={t('title')}
        subtitle={t('subtitle')}
        actions={
          <Button
            variant="primary"
            icon={Plus}
            onClick={() => setEditing(null)}
            disabledReason={
              budgets.data === undefined || allows(budgets.data, 'create')
                ? null
                : t('common:needsRole', { role: t('common:role.admin') })
            }
          >
            {t('form.create')}
          </Button>
        }
      />
      <div className="mb-3">
        <FilterBox label={t('filter')} value={search.q ?? ''} onChange={filter} />
      </div>
      <Panel flush>
        <QueryState query={budgets} lines={5} height={260}>
          {({ resources }) => (
            <DataTable
              label={t('title')}
              columns={columns}
              rows={resources.filter((budget) =>
                `${scopeName(t, budget)} ${t(`scope.${budget.scope}`)}`.toLowerCase().includes(wanted),
              )}
              rowId={({ id }) => id}
              sort={sortOf(search)}
              onSort={(sort) =>
                void navigate({
                  search: { ...(search.q === undefined ? {} : { q: search.q }), ...searchOfSort(sort) },
                })
              }
              empty={
                <EmptyState icon={PiggyBank} title={wanted === '' ? t('empty.title') : t('empty.filtered')}>
                  {wanted === '' && t('empty.next')}
                </EmptyState>
              }
            />
          )}
        </QueryState>
      </Panel>
      {editing !== undefined && (
        <Reopened row={editing}>
          {(budget, reopen) => (
            <BudgetForm budget={budget} onClose={() => setEditing(undefined)} onReload={reopen} />
          )}
        </Reopened>
      )}
    </>
  );
}
