import { useTranslation } from 'react-i18next';
import { StatusBadge, type Tone } from '../../components/figures/status-badge.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import type { Service } from './queries.ts';

const tones: Readonly<Record<string, Tone>> = { pass: 'ok', warn: 'warn', fail: 'bad', unknown: 'neutral' };

/** Every connection with how it is. */
export function AccountsStrip({ services }: { services: readonly Service[] }) {
  const { t } = useTranslation('overview');
  const connections = services.filter(({ kind }) => kind === 'provider_connection');
  if (connections.length === 0)
    return <EmptyState title={t('accounts.none')}>{t('accounts.next')}</EmptyState>;
  return (
    <ul className="flex flex-wrap gap-2">
      {connections.map(({ id, name, health, state }) => (
        <li key={id} className="flex items-center gap-2 rounded-md border border-line px-2.5 py-1.5">
          <span className="font-medium">{name}</span>
          <StatusBadge
            tone={state === 'stopped' ? 'neutral' : (tones[health.status] ?? 'neutral')}
            title={health.checks.find(({ status }) => status !== 'pass')?.output}
          >
            {t(`health.${state === 'stopped' ? 'stopped' : health.status}`)}
          </StatusBadge>
        </li>
      ))}
    </ul>
  );
}
