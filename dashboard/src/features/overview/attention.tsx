import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { AlertTriangle } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { AttentionRow } from '../../../../src/management/attention/schema.ts';
import { Button, buttonClass } from '../../components/controls/button.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useApi } from '../../lib/api/client.ts';
import { reaches, useRole } from '../../lib/api/session.ts';

/** What needs a person, each with the button that mends it. Nothing where nothing does. */
export function Attention({ rows }: { rows: readonly AttentionRow[] }) {
  const { t } = useTranslation('overview');
  if (rows.length === 0) return null;
  return (
    <section
      aria-label={t('attention.title')}
      className="rounded-lg border border-line bg-warn-soft px-4 py-3"
    >
      <h2 className="mb-1 flex items-center gap-2 font-semibold text-sm">
        <AlertTriangle size={16} className="text-warn" aria-hidden />
        {t('attention.title')}
      </h2>
      <ul>
        {rows.map((row) => (
          <li
            key={row.id}
            className="flex min-h-9 flex-wrap items-center justify-between gap-x-4 gap-y-1 py-0.5"
          >
            <span className="min-w-0 [overflow-wrap:anywhere]">
              <span className="font-medium">{row.name ?? t('attention.allRequests')}</span>:{' '}
              <What row={row} />
            </span>
            <Mend row={row} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function What({ row }: { row: AttentionRow }) {
  const { t } = useTranslation('overview');
  switch (row.kind) {
    case 'budget':
      return t('attention.budgetUsed', { percent: row.used_percent ?? 0 });
    case 'tool':
      return t('attention.toolChanged');
    case 'dead_letters':
      return t('attention.deadLetters', { count: row.count ?? 0 });
    default:
      return row.detail;
  }
}

function Mend({ row: { category, kind, name, subject } }: { row: AttentionRow }) {
  const { t } = useTranslation('overview');
  const mayChange = reaches(useRole(), 'admin');
  const look = buttonClass('secondary');
  switch (kind) {
    case 'connection':
      return (
        <Link to="/connections" search={{ show: 'details', connection: name ?? subject }} className={look}>
          {t('attention.mendConnection')}
        </Link>
      );
    case 'service':
      return (
        <Link to="/services/$serviceId" params={{ serviceId: subject }} className={look}>
          {t('attention.mendService')}
        </Link>
      );
    case 'budget':
      return (
        <Link to="/budgets" search={name === null ? {} : { q: name }} className={look}>
          {t(mayChange ? 'attention.mendBudget' : 'attention.seeBudget')}
        </Link>
      );
    case 'tool':
      return (
        <Link
          to={category === 'agent' ? '/cli-agents/$toolId' : '/cli-code/$toolId'}
          params={{ toolId: subject }}
          className={look}
        >
          {t('attention.mendTool')}
        </Link>
      );
    case 'dead_letters':
      return <Replay trigger={subject} />;
  }
}

/** Gives the dead letters of a trigger to it again. */
function Replay({ trigger }: { trigger: string }) {
  const { t } = useTranslation('overview');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const mayReplay = reaches(useRole(), 'operator');
  const replay = useMutation({
    mutationFn: () => api.post<{ count: number }>('events/dead-letters:replay', { trigger }),
    onSuccess: async ({ count }) => {
      notify(t('attention.replayed', { count }));
      await queries.invalidateQueries({ queryKey: ['attention'] });
    },
    onError: (error) => notify(error.message),
  });
  return (
    <Button
      busy={replay.isPending}
      onClick={() => replay.mutate()}
      disabledReason={mayReplay ? null : t('common:needsRole', { role: t('common:role.operator') })}
    >
      {t('attention.replay')}
    </Button>
  );
}
