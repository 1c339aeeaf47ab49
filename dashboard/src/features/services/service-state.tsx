import { useTranslation } from 'react-i18next';
import { StatusBadge, type Tone } from '../../components/figures/status-badge.tsx';
import type { Service } from './queries.ts';

const stateTones: Readonly<Record<Service['state'], Tone>> = {
  running: 'ok',
  degraded: 'warn',
  draining: 'pending',
  failed: 'bad',
  stopped: 'neutral',
  disabled: 'neutral',
};

const healthTones: Readonly<Record<Service['health']['status'], Tone>> = {
  pass: 'ok',
  warn: 'warn',
  fail: 'bad',
  unknown: 'pending',
};

/** What a service does at the moment, with the reason on hover. */
export function StateBadge({ service: { state, state_reason } }: { service: Service }) {
  const { t } = useTranslation('services');
  return (
    <StatusBadge tone={stateTones[state]} title={state_reason?.message}>
      {t(`state.${state}`)}
    </StatusBadge>
  );
}

/** What was seen when somebody looked. */
export function HealthBadge({ status }: { status: Service['health']['status'] }) {
  const { t } = useTranslation('services');
  return <StatusBadge tone={healthTones[status]}>{t(`health.${status}`)}</StatusBadge>;
}

/** Why a service is not as it should be, in a sentence; null where it is. */
export function problemOf({ health, last_error, state, state_reason }: Service): string | null {
  if (state === 'running' && health.status === 'pass') return null;
  return (
    state_reason?.message ??
    health.checks.find(({ status }) => status === 'fail' || status === 'warn')?.output ??
    last_error?.message ??
    null
  );
}
