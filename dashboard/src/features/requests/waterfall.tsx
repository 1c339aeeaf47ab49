import { useTranslation } from 'react-i18next';
import type { TraceRow } from '../../../../src/ledger/schema.ts';
import { Duration } from '../../components/figures/amounts.tsx';
import { classNames } from '../../components/layout/class-names.ts';

const colors = { answered: 'bg-series-3', failed: 'bg-bad', aborted: 'bg-series-2' } as const;

interface WaterfallProps {
  attempts: TraceRow['attempts'];
  /** Of the whole request, in milliseconds. */
  total: number;
  ttft: number | null;
}

/** When each attempt began and how long it took, one row each, with the first byte marked. */
export function Waterfall({ attempts, total, ttft }: WaterfallProps) {
  const { t } = useTranslation('requests');
  const length = Math.max(total, 1);
  return (
    <ol className="flex flex-col gap-3">
      {attempts.map((attempt, index) => (
        <li key={`${attempt.connection_id} ${attempt.started_ms}`}>
          <div className="flex flex-wrap justify-between gap-x-3 text-sm">
            <span className="min-w-0 truncate">
              {index + 1}. {attempt.connection}/{attempt.model}
            </span>
            <span className="text-muted">
              {t(`attempt.${attempt.outcome}`)}
              {attempt.status !== null && ` · ${attempt.status}`} · <Duration value={attempt.duration_ms} />
            </span>
          </div>
          <div className="relative mt-1 h-3 rounded bg-sunken">
            <div
              className={classNames('absolute h-full min-w-1 rounded', colors[attempt.outcome])}
              style={{
                insetInlineStart: `${Math.min((attempt.started_ms / length) * 100, 99)}%`,
                width: `${Math.min((attempt.duration_ms / length) * 100, 100)}%`,
              }}
            />
            {ttft !== null && attempt.outcome === 'answered' && (
              <div
                title={t('column.ttft')}
                className="absolute inset-y-[-2px] w-0.5 bg-text"
                style={{ insetInlineStart: `${Math.min((ttft / length) * 100, 100)}%` }}
              />
            )}
          </div>
          {attempt.error !== null && (
            <p className="mt-1 text-bad text-xs [overflow-wrap:anywhere]">
              <code>{attempt.error.code}</code> {attempt.error.message}
            </p>
          )}
          {attempt.effect !== null && <p className="mt-0.5 text-muted text-xs">{attempt.effect}</p>}
        </li>
      ))}
    </ol>
  );
}
