import { useTranslation } from 'react-i18next';
import { Count, Money } from '../../components/figures/amounts.tsx';
import { Figure, Figures } from '../../components/figures/figures.tsx';
import type { Totals } from './lines.ts';

/** What a range came to: what is paid and what plans are worth apart, and what was saved. */
export function CostsSummary({ totals }: { totals: Totals }) {
  const { t } = useTranslation('costs');
  const { billed_usd, cache_savings_usd, plan_usd, requests, routing_savings_usd, unpriced } = totals;
  const none = requests === 0;
  return (
    <Figures>
      <Figure label={t('figure.billed')} note={t('figure.billedNote')}>
        <Money
          value={none ? 0 : (billed_usd ?? (plan_usd === null ? null : 0))}
          unknown={t('unknown.price')}
        />
      </Figure>
      {plan_usd !== null && (
        <Figure label={t('figure.plan')} note={t('figure.planNote')}>
          <Money value={plan_usd} unknown={t('unknown.plan')} />
        </Figure>
      )}
      <Figure label={t('figure.cache')} note={t('figure.cacheNote')}>
        <Money value={cache_savings_usd} unknown={t('unknown.savings')} />
      </Figure>
      <Figure label={t('figure.routing')} note={t('figure.routingNote')}>
        <Money value={routing_savings_usd} unknown={t('unknown.routing')} />
      </Figure>
      <Figure
        label={t('figure.requests')}
        note={unpriced > 0 ? t('figure.unpriced', { count: unpriced }) : t('figure.allPriced')}
      >
        <Count value={requests} />
      </Figure>
    </Figures>
  );
}
