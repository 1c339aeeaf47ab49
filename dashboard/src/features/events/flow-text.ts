import { useTranslation } from 'react-i18next';
import { numberFormat } from '../../lib/format/formatters.ts';
import type { GraphEdge } from './graph.ts';

/** How much goes along an edge, and how much waits: `2.5/s · 3 waiting`. */
export function useFlowText(): (edge: Pick<GraphEdge, 'rate' | 'lag'>) => string {
  const { t, i18n } = useTranslation('events');
  const rates = numberFormat(i18n.language, { maximumSignificantDigits: 2 });
  return ({ lag, rate }) =>
    [
      ...(rate === null ? [] : [t('map.rate', { rate: rates.format(rate) })]),
      ...(lag === null ? [] : [t('map.lag', { count: lag })]),
    ].join(' · ');
}
