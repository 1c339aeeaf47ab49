import { useTranslation } from 'react-i18next';
import { Count, Percent, RelativeTime } from '../../components/figures/amounts.tsx';
import { Meter } from '../../components/figures/meter.tsx';
import { exact } from '../../lib/format/numbers.ts';
import type { Quota } from './queries.ts';

/** From which share left on an account is nearly used up. */
const LITTLE = 0.2;

/** What is left of the smallest limit of an account. */
export function QuotaCell({ quota }: { quota: Quota | undefined }) {
  const { t } = useTranslation('connections');
  if (quota === undefined || quota.headroom === null)
    return (
      <span className="text-muted" title={t('quota.unknown')}>
        –
      </span>
    );
  return (
    <span className="block min-w-24">
      <Bar left={quota.headroom} label={t('quota.smallest')} />
      <span className="block text-xs leading-5">
        <Percent value={quota.headroom} /> {t('quota.left')}
      </span>
    </span>
  );
}

function Bar({ label, left }: { label: string; left: number }) {
  return <Meter share={left} tone={left <= 0 ? 'bad' : left < LITTLE ? 'warn' : 'ok'} label={label} />;
}

/** Every limit and balance that the provider told of, with when it begins anew. */
export function QuotaBars({ quota }: { quota: Quota | undefined }) {
  const { t, i18n } = useTranslation('connections');
  const { balance = null, limits = [] } = quota ?? {};
  if (limits.length === 0 && balance === null) return <p className="text-muted">{t('quota.unknown')}</p>;
  return (
    <ul className="flex flex-col gap-3">
      {limits.map((limit) => (
        <li key={`${limit.name} ${limit.model ?? ''}`}>
          <span className="flex flex-wrap justify-between gap-x-3 text-xs">
            <span>
              {limit.name}
              {limit.model !== null && <span className="text-muted"> · {limit.model}</span>}
            </span>
            <span>
              <Count value={limit.remaining} /> / <Count value={limit.limit} />
              {limit.resets_at !== null && (
                <span className="text-muted">
                  {' '}
                  · {t('quota.resets')} <RelativeTime at={limit.resets_at} />
                </span>
              )}
            </span>
          </span>
          {limit.left !== null && <Bar left={limit.left} label={limit.name} />}
        </li>
      ))}
      {balance?.amounts.map(({ currency, limit, remaining }) => (
        <li key={currency} className="flex justify-between gap-3">
          <span>{t('quota.balance')}</span>
          <span className="nums">
            {exact(remaining, i18n.language)} {limit !== null && `/ ${exact(limit, i18n.language)}`}{' '}
            {currency}
          </span>
        </li>
      ))}
      {balance !== null && balance.error !== null && <li className="text-bad">{balance.error}</li>}
    </ul>
  );
}
