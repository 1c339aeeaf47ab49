import type { TFunction } from 'i18next';
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
    <StatusBadge
      tone={stateTones[state]}
      title={state_reason === null ? undefined : problemText(t, state_reason)}
    >
      {t(`state.${state}`)}
    </StatusBadge>
  );
}

/** What was seen when somebody looked. */
export function HealthBadge({ status }: { status: Service['health']['status'] }) {
  const { t } = useTranslation('services');
  return <StatusBadge tone={healthTones[status]}>{t(`health.${status}`)}</StatusBadge>;
}

/** What is wrong with a service; checks have no code. */
interface Problem {
  code?: string;
  message: string;
}

/** Codes that say all there is to say; the others come with a sentence about what happened. */
const plainReasons: ReadonlySet<string> = new Set(['draining', 'stopped_by_operator', 'unknown_provider']);

export function problemText(t: TFunction<'services'>, { code, message }: Problem): string {
  return code !== undefined && plainReasons.has(code) ? t(`reason.${code}`) : message;
}

/** Why a service is not as it should be; null where it is. */
export function problemOf({ health, last_error, state, state_reason }: Service): Problem | null {
  if (state === 'running' && health.status === 'pass') return null;
  const output = health.checks.find(({ status }) => status === 'fail' || status === 'warn')?.output;
  return state_reason ?? (output == null ? last_error : { message: output });
}
