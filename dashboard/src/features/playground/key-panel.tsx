import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { TextField } from '../../components/controls/field.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { useApi } from '../../lib/api/client.ts';
import { useRole } from '../../lib/api/session.ts';
import { keepKey, playgroundLabel } from './key.ts';
import { playgroundKeysQuery } from './queries.ts';

const LIFE_MS = 12 * 3_600_000;

/** Asks for the gateway key that pays for what is tried: a new one for this window, or one that somebody has. */
export function KeyPanel() {
  const { t } = useTranslation('playground');
  const api = useApi();
  const queries = useQueryClient();
  const mayMake = useRole() === 'admin';
  const [text, setText] = useState('');
  /** Those of windows that were closed. What they paid for keeps their names. */
  const removeExpired = async () => {
    const { resources } = await queries.fetchQuery(playgroundKeysQuery(api));
    const expired = resources.filter(({ expires_at }) => Date.parse(expires_at ?? '') <= Date.now());
    await Promise.allSettled(expired.map(({ id }) => api.remove(`keys/${encodeURIComponent(id)}`)));
  };
  const make = useMutation({
    mutationFn: () =>
      api.post<{ results: { id: string; key: string }[] }>('keys', {
        name: `playground ${new Date().toISOString().slice(0, 19).replace('T', ' ')}`,
        expires_at: new Date(Date.now() + LIFE_MS).toISOString(),
        labels: playgroundLabel,
      }),
    onSuccess: async ({ results: [made] }) => {
      keepKey(made === undefined ? null : { text: made.key, id: made.id });
      await removeExpired();
      await queries.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  return (
    <Panel title={t('key.title')}>
      <p className="mb-3 max-w-prose text-muted">{t('key.why')}</p>
      <div className="flex flex-wrap items-end gap-3">
        <Button
          variant="primary"
          className="min-h-9"
          busy={make.isPending}
          disabledReason={mayMake ? null : t('common:needsRole', { role: t('common:role.admin') })}
          onClick={() => make.mutate()}
        >
          {t('key.make')}
        </Button>
        <form
          className="flex min-w-64 flex-1 items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (text.trim() !== '') keepKey({ text: text.trim(), id: null });
          }}
        >
          <div className="min-w-0 flex-1">
            <TextField
              label={t('key.paste')}
              type="password"
              autoComplete="off"
              value={text}
              onChange={({ target }) => setText(target.value)}
            />
          </div>
          <Button
            type="submit"
            className="min-h-9"
            disabledReason={text.trim() === '' ? t('key.missing') : null}
          >
            {t('key.use')}
          </Button>
        </form>
      </div>
      {make.isError && (
        <div className="mt-3">
          <ErrorNotice error={make.error} />
        </div>
      )}
    </Panel>
  );
}
