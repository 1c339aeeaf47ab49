import { AlertTriangle } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Percent } from '../../components/amounts.tsx';
import type { Budget, Service } from './queries.ts';

/** Budgets of which so much is used are shown, where they do not say it themselves. */
const NEAR_PERCENT = 80;

/** What needs a person: services that fail and budgets that are nearly used up. Nothing where nothing does. */
export function Attention({
  services,
  budgets,
}: {
  services: readonly Service[];
  budgets: readonly Budget[];
}) {
  const { t } = useTranslation('overview');
  const failing = services.filter(({ health, state }) => health.status === 'fail' || state === 'failed');
  const near = budgets.filter(
    ({ limit, metric, soft_percent, spent }) =>
      metric !== 'concurrency' && spent / limit >= (soft_percent ?? NEAR_PERCENT) / 100,
  );
  if (failing.length + near.length === 0) return null;
  return (
    <section
      aria-label={t('attention.title')}
      className="rounded-lg border border-line bg-warn-soft px-4 py-3"
    >
      <h2 className="mb-1 flex items-center gap-2 font-semibold text-sm">
        <AlertTriangle size={16} className="text-warn" aria-hidden />
        {t('attention.title')}
      </h2>
      <ul className="flex flex-col gap-1">
        {failing.map(({ id, name, health, state_reason }) => (
          <li key={id}>
            <span className="font-medium">{name}</span>:{' '}
            {state_reason?.message ?? health.checks.find(({ status }) => status === 'fail')?.output}
          </li>
        ))}
        {near.map((budget) => (
          <li key={budget.id}>
            {t('attention.budget', {
              name: budget.subject_name ?? t('attention.allRequests'),
              period: t(`period.${budget.period ?? 'month'}`),
            })}{' '}
            <Percent value={budget.spent / budget.limit} />
          </li>
        ))}
      </ul>
    </section>
  );
}
