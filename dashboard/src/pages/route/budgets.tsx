import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { PiggyBank } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CreateButton } from '../../components/controls/create-button.tsx';
import { Reopened } from '../../components/dialogs/reopened.tsx';
import { ListPage } from '../../components/layout/list-page.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { BudgetActions } from '../../features/budgets/budget-actions.tsx';
import { BudgetForm } from '../../features/budgets/budget-form.tsx';
import { budgetColumns, scopeName } from '../../features/budgets/columns.tsx';
import { type Budget, budgetsQuery } from '../../features/budgets/queries.ts';
import { useApi } from '../../lib/api/client.ts';
import type { SortSearch } from '../../lib/sort-search.ts';

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
  const change = useCallback(
    (next: Partial<SortSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...next }), replace: true }),
    [navigate],
  );
  return (
    <ListPage
      title={t('title')}
      subtitle={t('subtitle')}
      actions={
        <CreateButton collection={budgets.data} onClick={() => setEditing(null)}>
          {t('form.create')}
        </CreateButton>
      }
      query={budgets}
      lines={5}
      height={260}
      columns={columns}
      search={search}
      onSearch={change}
      filter={{
        label: t('filter'),
        textOf: (budget) => `${scopeName(t, budget)} ${t(`scope.${budget.scope}`)}`,
      }}
      empty={{
        icon: PiggyBank,
        title: t('empty.title'),
        next: t('empty.next'),
        filtered: t('empty.filtered'),
      }}
    >
      {editing !== undefined && (
        <Reopened row={editing}>
          {(budget, reopen) => (
            <BudgetForm budget={budget} onClose={() => setEditing(undefined)} onReload={reopen} />
          )}
        </Reopened>
      )}
    </ListPage>
  );
}
