import { useTranslation } from 'react-i18next';
import { Count, Duration, Money, Percent } from '../../components/figures/amounts.tsx';
import { StatusBadge, type Tone } from '../../components/figures/status-badge.tsx';
import type { TargetFacts, TargetState } from './target-facts.ts';

const tones: Readonly<Record<TargetState, Tone>> = {
  combo: 'neutral',
  ready: 'ok',
  probing: 'warn',
  cooling: 'warn',
  exhausted: 'bad',
  'needs-attention': 'bad',
  'needs-key': 'bad',
  paused: 'neutral',
  unknown: 'pending',
};

/** How the accounts behind a target stand. `problem` is why it cannot be asked at all. */
export function TargetBadge({ facts, problem }: { facts: TargetFacts; problem: string | null }) {
  const { t } = useTranslation('combos');
  if (problem !== null) return <StatusBadge tone="bad">{problem}</StatusBadge>;
  const word = t(`state.${facts.state}`);
  return (
    <StatusBadge tone={tones[facts.state]} title={facts.reason ?? undefined}>
      {facts.accounts > 1 ? t('accounts', { ready: facts.ready, all: facts.accounts }) : word}
    </StatusBadge>
  );
}

/** Price and recent figures of a target, each with what it is. */
export function TargetFigures({ facts }: { facts: TargetFacts }) {
  const { t } = useTranslation('combos');
  const { failed, inputUsd, outputUsd, requests, state, ttftMs } = facts;
  if (state === 'combo') return null;
  return (
    <dl className="flex flex-wrap gap-x-4 text-muted text-xs">
      <div className="flex gap-1">
        <dt>{t('figure.price')}</dt>
        <dd>
          <Money value={inputUsd} /> / <Money value={outputUsd} />
        </dd>
      </div>
      <div className="flex gap-1">
        <dt>{t('figure.requests')}</dt>
        <dd>
          <Count value={requests} />
        </dd>
      </div>
      <div className="flex gap-1">
        <dt>{t('figure.failed')}</dt>
        <dd className={failed > 0 ? 'text-bad' : undefined}>
          <Percent value={requests === 0 ? null : failed / requests} unknown={t('figure.noRequests')} />
        </dd>
      </div>
      <div className="flex gap-1">
        <dt>{t('figure.ttft')}</dt>
        <dd>
          <Duration value={ttftMs} unknown={t('figure.noRequests')} />
        </dd>
      </div>
    </dl>
  );
}
