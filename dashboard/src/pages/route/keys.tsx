import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { KeyRound } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CreateButton } from '../../components/controls/create-button.tsx';
import { Reopened } from '../../components/dialogs/reopened.tsx';
import { ListPage } from '../../components/layout/list-page.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { keyColumns } from '../../features/keys/columns.tsx';
import { CreatedKey } from '../../features/keys/created-key.tsx';
import { KeyActions } from '../../features/keys/key-actions.tsx';
import { KeyForm, type NewKey } from '../../features/keys/key-form.tsx';
import { type Key, keyBudgetsQuery, keysQuery, keyUsageQuery } from '../../features/keys/queries.ts';
import { useApi } from '../../lib/api/client.ts';
import { useNow } from '../../lib/now.ts';
import type { SortSearch } from '../../lib/sort-search.ts';

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
  const change = useCallback(
    (next: Partial<SortSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...next }), replace: true }),
    [navigate],
  );
  const ofPlayground = keys.data?.resources.filter(isOfPlayground).length ?? 0;
  return (
    <ListPage
      title={t('title')}
      subtitle={t('subtitle')}
      actions={
        <CreateButton collection={keys.data} onClick={() => setForm({ editing: null })}>
          {t('create.open')}
        </CreateButton>
      }
      query={keys}
      lines={6}
      height={260}
      columns={columns}
      search={search}
      onSearch={change}
      filter={{ label: t('filter'), textOf: searchedText }}
      shows={(key, text) => text !== '' || !isOfPlayground(key)}
      empty={{
        icon: KeyRound,
        title: t('empty.title'),
        next: t('empty.next'),
        filtered: t('empty.filtered'),
      }}
    >
      {search.q === undefined && ofPlayground > 0 && (
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
    </ListPage>
  );
}

/** What keys are labeled with that were made for a window of the playground. */
const PLAYGROUND = 'playground';

const isOfPlayground = ({ labels }: Key): boolean => labels['purpose'] === PLAYGROUND;

/** What the filter looks into. */
function searchedText({ labels, name, owner, prefix, team }: Key): string {
  return [name, prefix, owner, team, ...Object.values(labels)].join(' ');
}
