import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
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
import { Reopened } from '../components/reopened.tsx';
import { keyColumns } from '../features/keys/columns.tsx';
import { CreatedKey } from '../features/keys/created-key.tsx';
import { KeyActions } from '../features/keys/key-actions.tsx';
import { KeyForm, type NewKey } from '../features/keys/key-form.tsx';
import { type Key, keyBudgetsQuery, keysQuery, keyUsageQuery } from '../features/keys/queries.ts';
import { allows, useApi } from '../lib/api/client.ts';
import { useNow } from '../lib/now.ts';
import { searchOfSort, sortOf } from '../lib/sort-search.ts';

const route = getRouteApi('/api-manager');

/** The keys of tools and programs: made with their limits, shown once, revoked. */
export function KeysPage() {
  const { t } = useTranslation('keys');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const keys = useQuery(keysQuery(api));
  const budgets = useQuery(keyBudgetsQuery(api)).data?.resources;
  const usage = useQuery(keyUsageQuery(api, useNow())).data;
  const [form, setForm] = useState<{ editing: Key | null } | null>(null);
  const [made, setMade] = useState<NewKey | null>(null);
  const columns = useMemo<readonly Column<Key>[]>(
    () => [
      ...keyColumns(t, { budgets: budgets ?? [], usage }),
      {
        id: 'actions',
        header: '',
        cell: (key) => (
          <KeyActions row={key} onEdit={(editing) => setForm({ editing })} onRotated={setMade} />
        ),
        narrow: true,
        width: '3.5rem',
      },
    ],
    [t, budgets, usage],
  );
  const filter = useCallback(
    (q: string) =>
      void navigate({ search: (before) => ({ ...before, q: q === '' ? undefined : q }), replace: true }),
    [navigate],
  );
  const wanted = (search.q ?? '').toLowerCase();
  const ofPlayground = keys.data?.resources.filter(isOfPlayground).length ?? 0;
  const create = (
    <Button
      variant="primary"
      icon={Plus}
      onClick={() => setForm({ editing: null })}
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
              rows={resources.filter(
                (key) => searchedText(key).includes(wanted) && (wanted !== '' || !isOfPlayground(key)),
              )}
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
      {wanted === '' && ofPlayground > 0 && (
        <p className="mt-2 text-muted">
          {t('playground', { count: ofPlayground })}{' '}
          <Link to="/api-manager" search={{ q: PLAYGROUND }} className="text-accent underline">
            {t('showPlayground')}
          </Link>
        </p>
      )}
      {form !== null && (
        <Reopened row={form.editing}>
          {(editing, reopen) => (
            <KeyForm
              editing={editing}
              onClose={() => setForm(null)}
              onCreated={(key) => {
                setForm(null);
                setMade(key);
              }}
              onReload={reopen}
            />
          )}
        </Reopened>
      )}
      {made !== null && <CreatedKey made={made} onClose={() => setMade(null)} />}
    </>
  );
}

/** What keys are labeled with that were made for a window of the playground. */
const PLAYGROUND = 'playground';

const isOfPlayground = ({ labels }: Key): boolean => labels['purpose'] === PLAYGROUND;

/** What the filter looks into. */
function searchedText({ labels, name, owner, prefix, team }: Key): string {
  return [name, prefix, owner, team, ...Object.values(labels)].join(' ').toLowerCase();
}
