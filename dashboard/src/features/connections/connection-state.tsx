import { useTranslation } from 'react-i18next';
import { StatusBadge, type Tone } from '../../components/figures/status-badge.tsx';
import type { Connection } from './queries.ts';

/** What a connection is in one word. */
export function stateOf({ active, condition, needs_reentry, oauth, status }: Connection): {
  tone: Tone;
  word: string;
} {
  if (!active) return { tone: 'neutral', word: 'paused' };
  if (needs_reentry) return { tone: 'bad', word: 'needsKey' };
  if (oauth !== undefined && oauth?.logged_in === false) return { tone: 'bad', word: 'needsLogin' };
  if (condition.state !== 'ready') return { tone: 'warn', word: condition.state };
  if (status === 'failed') return { tone: 'bad', word: 'failed' };
  return status === 'ok' ? { tone: 'ok', word: 'ready' } : { tone: 'pending', word: 'untested' };
}

export function ConnectionState({ connection }: { connection: Connection }) {
  const { t } = useTranslation('connections');
  const { tone, word } = stateOf(connection);
  return (
    <StatusBadge tone={tone} title={connection.condition.reason ?? connection.last_error ?? undefined}>
      {t(`state.${word}`)}
    </StatusBadge>
  );
}
