import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { useApi } from '../../lib/api/client.ts';
import { backupTasksQuery, isUnderWay, type Task } from './queries.ts';

const SHOWN = 5;

/** What is being done to backups, and how the last of it ended. Nothing where nothing was done. */
export function TaskList() {
  const { t } = useTranslation('backups');
  const api = useApi();
  const queries = useQueryClient();
  const tasks = useQuery(backupTasksQuery(api)).data?.resources ?? [];
  const underWay = tasks.filter(isUnderWay).length;
  const before = useRef(underWay);
  useEffect(() => {
    if (underWay < before.current) void queries.invalidateQueries({ queryKey: ['backups'] });
    before.current = underWay;
  }, [underWay, queries]);
  if (tasks.length === 0) return null;
  return (
    <Panel title={t('tasks.title')} flush>
      <ul>
        {tasks.slice(0, SHOWN).map((task) => (
          <TaskLine key={task.id} task={task} />
        ))}
      </ul>
    </Panel>
  );
}

function TaskLine({ task }: { task: Task }) {
  const { t } = useTranslation('backups');
  const { message, name, progress, status } = task;
  const working = isUnderWay(task);
  const tone = working ? 'pending' : status === 'Ok' ? 'ok' : status === 'Warn' ? 'warn' : 'bad';
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-line border-b px-4 py-2 last:border-b-0">
      <StatusBadge tone={tone}>{t(working ? 'tasks.working' : `tasks.${status}`)}</StatusBadge>
      <span className="min-w-0 flex-1 basis-52 [overflow-wrap:anywhere]">{message}</span>
      {working && (
        <progress aria-label={t(`tasks.${name}`)} value={progress ?? undefined} max={1} className="w-32" />
      )}
      <span className="text-muted text-xs">
        <RelativeTime at={task.updated_at} />
      </span>
    </li>
  );
}
