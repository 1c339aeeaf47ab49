import { useTranslation } from 'react-i18next';
import { StatusBadge, type Tone } from '../../components/figures/status-badge.tsx';
import type { AuditRecord } from './queries.ts';

const tones: Readonly<Record<AuditRecord['outcome'], Tone>> = {
  success: 'ok',
  failure: 'bad',
  denied: 'warn',
  intended: 'pending',
};

/** How it ended, with the reason on hover. */
export function OutcomeBadge({ record: { outcome, reason } }: { record: AuditRecord }) {
  const { t } = useTranslation('audit');
  return (
    <StatusBadge tone={tones[outcome]} title={reason ?? undefined}>
      {t(`outcome.${outcome}`)}
    </StatusBadge>
  );
}
