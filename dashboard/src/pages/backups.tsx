import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Archive, Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Bytes, RelativeTime } from '../components/amounts.tsx';
import { Button } from '../components/button.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { Panel } from '../components/panel.tsx';
import { QueryState } from '../components/query-state.tsx';
import { StatusBadge } from '../components/status-badge.tsx';
import { BackupActions } from '../features/backups/backup-actions.tsx';
import { CreateBackup } from '../features/backups/create-dialog.tsx';
import { type Backup, backupsQuery, scheduleQuery } from '../features/backups/queries.ts';
import { TaskList } from '../features/backups/task-list.tsx';
import { allows, useApi } from '../lib/api/client.ts';
import { searchOfSort, sortOf } from '../lib/sort-search.ts';

const route = getRouteApi('/backups');

/** The backups of the configuration and the database: made, checked, and how to restore one. */
export function BackupsPage() {
  const { t } = useTranslation('backups');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const backups = useQuery(backupsQuery(api));
  const schedule = useQuery(scheduleQuery(api));
  const [creating, setCreating] = useState(false);
  const columns = useMemo<readonly Column<Backup>[]>(
    () => [
      {
        id: 'id',
        header: t('column.name'),
        cell: ({ id }) => <code className="text-xs">{id}</code>,
        sortBy: ({ id }) => id,
        narrow: true,
      },
      {
        id: 'created_at',
        header: t('column.made'),
        cell: ({ created_at }) => <RelativeTime at={created_at} never="–" />,
        sortBy: ({ created_at }) => created_at,
      },
      {
        id: 'bytes',
        header: t('column.size'),
        cell: ({ bytes }) => <Bytes value={bytes} />,
        sortBy: ({ bytes }) => bytes,
        align: 'end',
      },
      {
        id: 'usable',
        header: t('column.state'),
        cell: ({ includes_secret, usable }) => (
          <StatusBadge
            tone={usable ? (includes_secret === true ? 'ok' : 'warn') : 'bad'}
            title={usable && includes_secret !== true ? t('withKeyNo') : undefined}
          >
            {t(usable ? (includes_secret === true ? 'state.whole' : 'state.withoutKey') : 'state.unusable')}
          </StatusBadge>
        ),
      },
      {
        id: 'version',
        header: t('column.version'),
        cell: ({ version }) => version ?? '–',
        sortBy: ({ version }) => version,
      },
      {
        id: 'members',
        header: t('column.files'),
        cell: ({ members }) => members.join(', '),
        hidden: true,
      },
      {
        id: 'actions',
        header: '',
        cell: (backup) => <BackupActions row={backup} />,
        narrow: true,
        width: '9rem',
      },
    ],
    [t],
  );
  const mayCreate = backups.data === undefined || allows(backups.data, 'create');
  return (
    <>
      <PageHeader
        title={t('title')}
        subtitle={t('subtitle')}
        actions={
          <Button
            variant="primary"
            icon={Plus}
            onClick={() => setCreating(true)}
            disabledReason={mayCreate ? null : t('common:needsRole', { role: t('common:role.admin') })}
          >
            {t('create')}
          </Button>
        }
      />
      <div className="flex flex-col gap-5">
        <QueryState query={schedule} lines={1}>
          {({ everyHours, keep }) => (
            <p>
              {everyHours === null
                ? t('schedule.none')
                : t('schedule.every', { hours: everyHours, keep: keep ?? 0 })}{' '}
              <Link to="/settings" search={{ q: 'backups.' }} className="text-accent underline">
                {t('schedule.change')}
              </Link>
            </p>
          )}
        </QueryState>
        <TaskList />
        <Panel flush>
          <QueryState query={backups} lines={5}>
            {({ resources }) => (
              <DataTable
                label={t('title')}
                columns={columns}
                rows={resources}
                rowId={({ id }) => id}
                sort={sortOf(search)}
                onSort={(sort) => void navigate({ search: searchOfSort(sort) })}
                empty={
                  <EmptyState icon={Archive} title={t('empty.title')}>
                    {t('empty.next')}
                  </EmptyState>
                }
              />
            )}
          </QueryState>
        </Panel>
      </div>
      {creating && <CreateBackup onClose={() => setCreating(false)} />}
    </>
  );
}
