import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Archive } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CreateButton } from '../../components/controls/create-button.tsx';
import { Bytes, RelativeTime } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { ListPage } from '../../components/layout/list-page.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { BackupActions } from '../../features/backups/backup-actions.tsx';
import { CreateBackup } from '../../features/backups/create-dialog.tsx';
import { type Backup, backupsQuery, scheduleQuery } from '../../features/backups/queries.ts';
import { TaskList } from '../../features/backups/task-list.tsx';
import { useApi } from '../../lib/api/client.ts';

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
  return (
    <ListPage
      title={t('title')}
      subtitle={t('subtitle')}
      actions={
        <CreateButton collection={backups.data} onClick={() => setCreating(true)}>
          {t('create')}
        </CreateButton>
      }
      intro={
        <div className="mb-5 flex flex-col gap-5">
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
        </div>
      }
      query={backups}
      lines={5}
      columns={columns}
      search={search}
      onSearch={(next) => void navigate({ search: (before) => ({ ...before, ...next }) })}
      empty={{ icon: Archive, title: t('empty.title'), next: t('empty.next') }}
    >
      {creating && <CreateBackup onClose={() => setCreating(false)} />}
    </ListPage>
  );
}
