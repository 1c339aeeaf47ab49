import { useTranslation } from 'react-i18next';
import { classNames } from '../../components/layout/class-names.ts';
import { exact, exactMoney, percent } from '../../lib/format/numbers.ts';
import type { Budget } from './queries.ts';

const colors = { ok: 'bg-series-3', soft: 'bg-series-2', used_up: 'bg-bad' } as const;

/** How much of a budget is used, what is set aside for open requests behind it, and where its warning stands. */
export function UsageBar({ budget }: { budget: Budget }) {
  const { i18n, t } = useTranslation('budgets');
  const { limit, metric, reserved, soft_percent, spent, state, used_percent } = budget;
  const amount = (value: number) =>
    metric === 'usd' ? exactMoney(value, i18n.language) : exact(value, i18n.language);
  const share = (value: number) => `${Math.min(100, Math.max(0, (value / limit) * 100))}%`;
  const text = t('used', { used: amount(spent), limit: amount(limit), reserved: amount(reserved) });
  return (
    <span className="flex items-center gap-2" title={text}>
      <meter className="sr-only" aria-label={text} value={Math.min(100, used_percent)} min={0} max={100} />
      <span
        aria-hidden
        className="relative block h-2.5 min-w-16 flex-1 overflow-hidden rounded-full bg-sunken"
      >
        <span
          className="absolute inset-y-0 start-0 bg-series-6/50"
          style={{ width: share(spent + reserved) }}
        />
        <span
          className={classNames('absolute inset-y-0 start-0', colors[state])}
          style={{ width: share(spent) }}
        />
        {soft_percent !== null && soft_percent < 100 && (
          <span
            className="absolute inset-y-0 w-0.5 bg-text"
            style={{ insetInlineStart: `${soft_percent}%` }}
          />
        )}
      </span>
      <span className="nums w-11 text-end">{percent(used_percent / 100, i18n.language)}</span>
    </span>
  );
}
