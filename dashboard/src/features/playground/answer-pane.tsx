import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { Count, Duration, Money } from '../../components/figures/amounts.tsx';
import { StatusBadge, type Tone } from '../../components/figures/status-badge.tsx';
import { useApi } from '../../lib/api/client.ts';
import type { Answer } from './ask.ts';
import { finishedRequestQuery } from './queries.ts';

const tones: Readonly<Record<Answer['state'], Tone>> = {
  asking: 'pending',
  streaming: 'pending',
  done: 'ok',
  failed: 'bad',
  stopped: 'warn',
};

interface AnswerPaneProps {
  model: string;
  onModel(model: string): void;
  /** Absent where it is the only one. */
  onRemove?: (() => void) | undefined;
  answer: Answer | undefined;
  /** Id of the list of models to choose from. */
  list: string;
  label: string;
}

/** One model with its answer, and beneath it what the answer used and cost. */
export function AnswerPane({ answer, label, list, model, onModel, onRemove }: AnswerPaneProps) {
  const { t } = useTranslation('playground');
  return (
    <section className="flex min-w-0 flex-col rounded-lg border border-line bg-panel" aria-label={label}>
      <header className="flex items-center gap-1 border-line border-b p-2">
        <input
          aria-label={label}
          list={list}
          value={model}
          placeholder={t('model')}
          autoComplete="off"
          onChange={({ target }) => onModel(target.value)}
          className="min-h-8 min-w-0 flex-1 rounded-md border border-line bg-panel px-2 text-sm"
        />
        {onRemove !== undefined && (
          <IconButton icon={X} label={t('remove', { name: label })} onClick={onRemove} />
        )}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <div className="h-72 overflow-y-auto p-4" tabIndex={0} aria-live="polite">
        {answer === undefined ? (
          <p className="text-muted">{t('nothing')}</p>
        ) : (
          <>
            <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{answer.text}</p>
            {answer.error !== null && (
              <p role="alert" className="mt-2 rounded-md bg-bad-soft p-3 text-bad [overflow-wrap:anywhere]">
                {answer.error}
              </p>
            )}
          </>
        )}
      </div>
      <footer className="min-h-20 border-line border-t px-4 py-3">
        {answer !== undefined && <AnswerFacts answer={answer} />}
      </footer>
    </section>
  );
}

function AnswerFacts({ answer }: { answer: Answer }) {
  const { t } = useTranslation('playground');
  const api = useApi();
  const { firstMs, requestId, state, status, totalMs } = answer;
  const ended = state !== 'asking' && state !== 'streaming';
  const request = useQuery({
    ...finishedRequestQuery(api, requestId ?? ''),
    enabled: ended && requestId !== null,
  });
  const { data } = request;
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1.5 text-sm">
      <Fact label={t('fact.state')}>
        <StatusBadge tone={tones[state]}>
          {t(`state.${state}`)}
          {status !== null && status >= 400 && ` ${status}`}
        </StatusBadge>
      </Fact>
      <Fact label={t('fact.first')}>
        <Duration value={firstMs} unknown={t('notYet')} />
      </Fact>
      <Fact label={t('fact.total')}>
        <Duration value={totalMs} unknown={t('notYet')} />
      </Fact>
      {data !== undefined && (
        <>
          <Fact label={t('fact.input')}>
            <Count value={data.input_tokens} unknown={t('noUsage')} />
          </Fact>
          <Fact label={t('fact.output')}>
            <Count value={data.output_tokens} unknown={t('noUsage')} />
          </Fact>
          <Fact label={t('fact.cost')}>
            <Money value={data.cost_usd} />
          </Fact>
          {data.model !== null && (
            <Fact label={t('fact.served')}>
              {data.connection}/{data.model}
            </Fact>
          )}
        </>
      )}
      {ended && requestId !== null && (
        <Fact label={t('fact.trace')}>
          <Link to="/requests/$requestId" params={{ requestId }} className="text-accent hover:underline">
            {t('openTrace')}
          </Link>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs">{label}</dt>
      <dd className="truncate">{children}</dd>
    </div>
  );
}
