import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { KeyRound, Plus } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { FilterBox } from '../components/filter-box.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { Panel } from '../components/panel.tsx';
import { QueryState } from '../components/query-state.tsx';
import { keyColumns } from '../features/keys/columns.tsx';
import { CreatedKey } from '../features/keys/created-key.tsx';
import { KeyActions } from '../features/keys/key-actions.tsx';
import { KeyForm, type NewKey } from '../features/keys/key-form.tsx';
import { type Key, keysQuery } from '../features/keys/queries.ts';
import { allows, useApi } from '../lib/api/client.ts';
import { searchOfSort, sortOf } from '../lib/sort-search.ts';

const route = getRouteApi('/api-manager');

/** The keys of tools and programs: made with their limits, shown once, revoked. */
export function KeysPage() {
  const { t } = useTranslation('keys');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const keys = useQuery(keysQuery(api));
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<NewKey | null>(null);
  const columns = useMemo<readonly Column<Key>[]>(
    () => [
      ...keyColumns(t),
      { id: 'actions', header: '', cell: (key) => <KeyActions row={key} />, narrow: true, width: '10rem' },
    ],
    [t],
  );
  const filter = useCallback(
    (q: string) =>
      void navigate({ search: (before) => ({ ...before, q: q === '' ? undefined : q }), replace: true }),
    [navigate],
  );
  const wanted = (search.q ?? '').toLowerCase();
  const create = (
    <Button
      variant="primary"
      icon={Plus}
      onClick={() => setCreating(true)}
      disabledReason={
        keys.data === undefined || allows(keys.data, 'create')
          ? null
          : t('common:needsRole', { role: t('common:role.admin') })
      }
    >
      {t('create.open')}
    </Button>
  );
  return (
    <>
      <PageHeader title={t('title')} subtitle={t('subtitle')} actions={create} />
      <div className="mb-3">
        <FilterBox label={t('filter')} value={search.q ?? ''} onChange={filter} />
      </div>
      <Panel flush>
        <QueryState query={keys} lines={6} height={260}>
          {({ resources }) => (
            <DataTable
              label={t('title')}
              columns={columns}
              rows={resources.filter(({ name }) => name.toLowerCase().includes(wanted))}
              rowId={({ id }) => id}
              sort={sortOf(search)}
              onSort={(sort) =>
                void navigate({
                  search: { ...(search.q === undefined ? {} : { q: search.q }), ...searchOfSort(sort) },
                })
              }
              empty={
                <EmptyState icon={KeyRound} title={wanted === '' ? t('empty.title') : t('empty.filtered')}>
                  {wanted === '' && t('empty.next')}
                </EmptyState>
              }
            />
          )}
        </QueryState>
      </Panel>
      {creating && (
        <KeyForm
          onClose={() => setCreating(false)}
          onCreated={(key) => {
            setCreating(false);
            setMade(key);
          }}
        />
      )}
      {made !== null && <CreatedKey made={made} onClose={() => setMade(null)} />}
    </>
  );
}
