import { useTranslation } from 'react-i18next';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import type { AcpAgent } from './queries.ts';

/** Whether an agent is installed, and whether requests reach it. */
export function AgentBadges({ agent }: { agent: AcpAgent }) {
  const { t } = useTranslation('acpAgents');
  const { built_in, enabled, installed, last_error, problem, usable } = agent;
  return (
    <span className="flex flex-wrap gap-1.5">
      <StatusBadge tone={installed ? 'ok' : 'neutral'}>{t(installed ? 'installed' : 'notFound')}</StatusBadge>
      {usable && <StatusBadge tone="ok">{t('enabled')}</StatusBadge>}
      {enabled && !usable && (
        <StatusBadge tone="warn" title={problem ?? undefined}>
          {t('cannotAnswer')}
        </StatusBadge>
      )}
      {last_error !== null && (
        <StatusBadge tone="bad" title={last_error.message}>
          {t('failed')}
        </StatusBadge>
      )}
      {!built_in && <StatusBadge tone="neutral">{t('custom')}</StatusBadge>}
    </span>
  );
}
