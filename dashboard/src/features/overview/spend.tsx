import { useTranslation } from 'react-i18next';
import type { UsageRow } from '../../../../src/ledger/schema.ts';
import { Count, Duration, Money, Percent } from '../../components/figures/amounts.tsx';
import { Figure, Figures as FigureRow } from '../../components/figures/figures.tsx';
import { sumOfMoney } from '../../lib/format/numbers.ts';
import type { Budget } from './queries.ts';

const DAY = 10;

/** Sums of today and of the month so far, by the days of UTC, which budgets go by as well. */
export function Figures({
  days,
  budgets,
  now,
}: {
  days: readonly UsageRow[];
  budgets: readonly Budget[];
  now: number;
}) {
  const { t } = useTranslation('overview');
  const todayName = new Date(now).toISOString().slice(0, DAY);
  const today = days.find(({ from }) => from.slice(0, DAY) === todayName);
  const month = sumOf(days);
  const requests = today?.requests ?? 0;
  return (
    <FigureRow>
      <Figure label={t('figure.today')} note={<BudgetNote budgets={budgets} period="day" />}>
        <Money value={today === undefined ? 0 : today.cost_usd} unknown={t('unpriced')} />
      </Figure>
      <Figure label={t('figure.month')} note={<BudgetNote budgets={budgets} period="month" />}>
        <Money value={month.cost} unknown={t('unpriced')} />
      </Figure>
      <Figure label={t('figure.requests')} note={t('figure.monthly', { count: month.requests })}>
        <Count value={requests} />
      </Figure>
      <Figure
        label={t('figure.failed')}
        note={t('figure.failedOf', { failed: today?.failed ?? 0, requests })}
      >
        <Percent value={requests === 0 ? null : (today?.failed ?? 0) / requests} unknown={t('noRequests')} />
      </Figure>
      <Figure label={t('figure.ttft')} note={t('figure.mean')}>
        <Duration value={today?.mean_ttft_ms ?? null} unknown={t('noRequests')} />
      </Figure>
    </FigureRow>
  );
}

/** What is left of the tightest budget over all requests in a period. */
function BudgetNote({ budgets, period }: { budgets: readonly Budget[]; period: 'day' | 'month' }) {
  const { t } = useTranslation('overview');
  const [budget] = budgets
    .filter((one) => one.scope === 'global' && one.metric === 'usd' && one.period === period)
    .sort((a, b) => a.remaining - b.remaining);
  if (budget === undefined) return <>{t('noBudget')}</>;
  return (
    <>
      {t('ofBudget')} <Money value={budget.limit} />
    </>
  );
}

/** Null where no cost is known; requests whose cost is not known are left out of it, as the API does. */
function sumOf(days: readonly UsageRow[]): { cost: number | null; requests: number } {
  return {
    cost: days.length === 0 ? 0 : sumOfMoney(days.map(({ cost_usd }) => cost_usd)),
    requests: days.reduce((sum, { requests }) => sum + requests, 0),
  };
}
