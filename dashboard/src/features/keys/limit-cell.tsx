import { useTranslation } from 'react-i18next';
import { Count, Money } from '../../components/figures/amounts.tsx';
import { Meter } from '../../components/figures/meter.tsx';
import type { Budget } from './queries.ts';

const tones = { ok: 'ok', soft: 'warn', used_up: 'bad' } as const;

/** How much of the tightest limit of a key is used, and whose it is. */
export function LimitCell({ budget }: { budget: Budget | null }) {
  const { t } = useTranslation('keys');
  if (budget === null) return <span className="text-muted">{t('limit.none')}</span>;
  const { limit, metric, period, scope, spent, state, subject, subject_name, used_percent } = budget;
  const amount = (value: number) => (metric === 'usd' ? <Money value={value} /> : <Count value={value} />);
  const whose = t(`limit.whose.${scope}`, { name: subject_name ?? subject ?? '' });
  return (
    <span className="block min-w-36 max-w-56" title={whose}>
      <Meter share={used_percent / 100} tone={tones[state]} label={t('limit.used', { whose })} />
      <span className="block truncate text-xs leading-5">
        {amount(spent)} / {amount(limit)}
        {metric !== 'usd' && ` ${t(`limit.metric.${metric}`)}`}
        {period !== null && ` / ${t(`limit.period.${period}`)}`} <span className="text-muted">· {whose}</span>
      </span>
    </span>
  );
}
