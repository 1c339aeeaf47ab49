import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus, Trash2 } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, IconButton } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { type Column, DataTable, type Sort } from '../../components/tables/data-table.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import { CreatedToken } from './created-token.tsx';
import { type Token, tokensQuery } from './queries.ts';
import { type NewToken, TokenForm } from './token-form.tsx';

/** Logins and tokens for automation: one's own, and an admin sees everybody's. */
export function TokenTable() {
  const { t } = useTranslation('users');
  const api = useApi();
  const queries = useQueryClient();
  const tokens = useQuery(tokensQuery(api));
  const [sort, setSort] = useState<Sort | null>(null);
  const [creating, setCreating] = useState(false);
  const [made, setMade] = useState<NewToken | null>(null);
  const [ending, setEnding] = useState<Token | null>(null);
  const columns = useMemo<readonly Column<Token>[]>(
    () => [
      {
        id: 'name',
        header: t('tokens.name'),
        cell: ({ current, kind, name }) => (
          <>
            <span className="font-medium">{name ?? t(`tokens.kind.${kind}`)}</span>
            {current && <span className="ms-2 text-muted text-xs">{t('tokens.current')}</span>}
          </>
        ),
        sortBy: ({ name }) => name,
        narrow: true,
      },
      { id: 'user', header: t('column.name'), cell: ({ user }) => user, sortBy: ({ user }) => user },
      {
        id: 'scopes',
        header: t('tokens.scopes'),
        cell: ({ scopes }) => (
          <span title={scopes?.join('\n')}>{scopes === null ? t('tokens.all') : scopes.join(', ')}</span>
        ),
      },
      {
        id: 'last_used_at',
        header: t('tokens.lastUsed'),
        cell: ({ last_used_address, last_used_at }) => (
          <span title={last_used_address ?? undefined}>
            <RelativeTime at={last_used_at} />
          </span>
        ),
        sortBy: ({ last_used_at }) => last_used_at,
      },
      {
        id: 'expires_at',
        header: t('tokens.expires'),
        cell: ({ expires_at }) => <RelativeTime at={expires_at} />,
        sortBy: ({ expires_at }) => expires_at,
      },
      {
        id: 'actions',
        header: '',
        cell: (token) =>
          allows(token, 'delete') && (
            <span className="flex justify-end">
              <IconButton
                icon={Trash2}
                label={t('tokens.endOf', { name: token.name ?? t(`tokens.kind.${token.kind}`) })}
                onClick={() => setEnding(token)}
              />
            </span>
          ),
        narrow: true,
        width: '3.5rem',
      },
    ],
    [t],
  );
  return (
    <Panel
      flush
      title={t('tokens.title')}
      actions={
        tokens.data !== undefined &&
        allows(tokens.data, 'create') && (
          <Button icon={Plus} onClick={() => setCreating(true)}>
            {t('tokens.create')}
          </Button>
        )
      }
    >
      <QueryState query={tokens} lines={4}>
        {({ resources }) => (
          <DataTable
            label={t('tokens.title')}
            columns={columns}
            rows={resources}
            rowId={({ id }) => id}
            sort={sort}
            onSort={setSort}
            empty={<EmptyState title={t('tokens.empty')} />}
          />
        )}
      </QueryState>
      {creating && (
        <TokenForm
          onClose={() => setCreating(false)}
          onCreated={(token) => {
            setCreating(false);
            setMade(token);
          }}
        />
      )}
      {made !== null && <CreatedToken made={made} onClose={() => setMade(null)} />}
      {ending !== null && (
        <ConfirmDialog
          open
          onClose={() => setEnding(null)}
          title={t('tokens.endOf', { name: ending.name ?? t(`tokens.kind.${ending.kind}`) })}
          confirm={t('tokens.end')}
          onConfirm={async () => {
            await api.remove(`tokens/${encodeURIComponent(ending.id)}`);
            await queries.invalidateQueries({ queryKey: ['tokens'] });
          }}
        >
          {t(ending.current ? 'tokens.endCurrent' : 'tokens.endWhat')}
        </ConfirmDialog>
      )}
    </Panel>
  );
}
