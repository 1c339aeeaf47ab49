import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCcw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { useApi } from '../../lib/api/client.ts';
import type { DeadLetter } from './queries.ts';

/** One dead letter: why it became one, its whole event, and what may be done with it. */
export function LetterDetail({ letter, onGone }: { letter: DeadLetter; onGone(): void }) {
  const { t } = useTranslation('events');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [removing, setRemoving] = useState(false);
  const path = `events/dead-letters/${encodeURIComponent(letter.id)}`;
  const replay = useMutation({
    mutationFn: () => api.post(`${path}:replay`, {}),
    onSuccess: async () => {
      notify(t('letters.replayed', { count: 1 }));
      onGone();
      await queries.invalidateQueries({ queryKey: ['events', 'letters', 'list'] });
    },
    onError: (error) => notify(error.message),
  });
  return (
    <div className="flex flex-col gap-5">
      <div role="note" className="rounded-md bg-bad-soft p-3">
        <p className="font-medium [overflow-wrap:anywhere]">{letter.error}</p>
        <p className="mt-0.5 text-muted">{t(`reasonWhat.${letter.reason}`)}</p>
      </div>
      <dl className="grid grid-cols-[minmax(7rem,auto)_1fr] gap-x-4 gap-y-1.5">
        <dt className="text-muted">{t('kind.trigger.one')}</dt>
        <dd>{letter.trigger}</dd>
        <dt className="text-muted">{t('kind.channel.one')}</dt>
        <dd>{letter.channel}</dd>
        <dt className="text-muted">{t('column.attempts')}</dt>
        <dd>{letter.attempts}</dd>
        {letter.status !== null && (
          <>
            <dt className="text-muted">{t('letters.status')}</dt>
            <dd>{letter.status}</dd>
          </>
        )}
        <dt className="text-muted">{t('column.since')}</dt>
        <dd>
          <RelativeTime at={letter.created_at} />
        </dd>
      </dl>
      {letter.failures.length > 0 && <Failures failures={letter.failures} />}
      <section>
        <h3 className="mb-1 font-semibold text-sm">{t('letters.event')}</h3>
        {letter.event === null ? (
          <p className="text-muted">{t('letters.damaged')}</p>
        ) : (
          <CodeBlock code={JSON.stringify(letter.event, null, 2)} />
        )}
      </section>
      <div className="flex flex-wrap gap-2">
        <Button
          variant="primary"
          icon={RotateCcw}
          busy={replay.isPending}
          disabledReason={letter.event === null ? t('letters.damaged') : null}
          onClick={() => replay.mutate()}
        >
          {t('letters.replay')}
        </Button>
        <Button variant="danger" icon={Trash2} onClick={() => setRemoving(true)}>
          {t('letters.remove')}
        </Button>
      </div>
      <ConfirmDialog
        open={removing}
        onClose={() => setRemoving(false)}
        title={t('letters.purgeTitle', { count: 1 })}
        confirm={t('letters.remove')}
        onConfirm={async () => {
          await api.remove(path);
          onGone();
          await queries.invalidateQueries({ queryKey: ['events', 'letters', 'list'] });
        }}
      >
        {t('letters.purgeWhat')}
      </ConfirmDialog>
    </div>
  );
}

/** Each attempt that failed: when, and what came of it. */
function Failures({ failures }: { failures: DeadLetter['failures'] }) {
  const { t } = useTranslation('events');
  return (
    <section>
      <h3 className="mb-1 font-semibold text-sm">{t('letters.attempts')}</h3>
      <ol className="flex flex-col gap-2">
        {failures.map(({ attempt, error, status, time }, index) => {
          const omitted = attempt - (failures[index - 1]?.attempt ?? attempt - 1) - 1;
          return (
            <li key={attempt} className="flex flex-col gap-0.5 border-line border-s-2 ps-3">
              {omitted > 0 && (
                <span className="text-muted text-xs">{t('letters.fewer', { count: omitted })}</span>
              )}
              <span className="flex flex-wrap items-baseline gap-x-3">
                <span className="font-medium">{t('letters.attempt', { attempt })}</span>
                <span className="nums text-muted">{status ?? t('letters.noAnswer')}</span>
                <span className="ms-auto text-muted">
                  <RelativeTime at={time} />
                </span>
              </span>
              <span className="[overflow-wrap:anywhere]">{error}</span>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
