import { useTranslation } from 'react-i18next';
import { StatusBadge, type Tone } from '../../components/figures/status-badge.tsx';
import type { Tool } from './queries.ts';

const tones: Readonly<Record<Tool['status'], Tone>> = {
  configured: 'ok',
  other: 'warn',
  not_configured: 'neutral',
  not_installed: 'neutral',
  unknown: 'pending',
};

/** Whether the tool points at this gateway, and what else is to be known of it. */
export function ToolBadges({ tool }: { tool: Tool }) {
  const { t } = useTranslation('cliCommon');
  return (
    <span className="flex flex-wrap gap-1.5">
      <StatusBadge tone={tool.installed ? 'ok' : 'neutral'}>
        {t(tool.installed ? 'card.detected' : 'card.notDetected')}
      </StatusBadge>
      {tool.status !== 'not_installed' && (
        <StatusBadge tone={tones[tool.status]} title={tool.endpoint ?? undefined}>
          {t(`status.${tool.status}`)}
        </StatusBadge>
      )}
      {tool.drifted.length > 0 && <StatusBadge tone="warn">{t('card.drifted')}</StatusBadge>}
      {tool.baseUrlSupport === 'partial' && (
        <StatusBadge tone="warn" title={tool.limitation}>
          {t('card.baseUrlPartial')}
        </StatusBadge>
      )}
      {tool.acpSpawnable && (
        <StatusBadge tone="neutral" title={t('card.alsoAcpHint')}>
          {t('card.alsoAcp')}
        </StatusBadge>
      )}
    </span>
  );
}
