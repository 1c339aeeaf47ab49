import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { TextField } from '../../components/controls/field.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';
import type { Alias } from './queries.ts';

/** Gives a model another name. */
export function AliasForm({ target, disabledReason }: { target: string; disabledReason: string | null }) {
  const { t } = useTranslation('models');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [name, setName] = useState('');
  const hint = useId();
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ['aliases'] });
    await queries.invalidateQueries({ queryKey: ['models'] });
  };
  const make = useMutation({
    mutationFn: (wanted: string) => api.post<{ results: Alias[] }>('aliases', { name: wanted, target }),
    onSuccess: async ({ results: [made] }) => {
      setName('');
      await refresh();
      notify(t('alias.made', { name: made?.name ?? '', target }), () => {
        if (made !== undefined) void api.remove(`aliases/${encodeURIComponent(made.id)}`).then(refresh);
      });
    },
  });
  return (
    <form
      className="flex flex-col gap-3"
      aria-describedby={hint}
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') make.mutate(name.trim());
      }}
    >
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <TextField
            label={t('alias.name')}
            value={name}
            autoComplete="off"
            onChange={({ target: input }) => setName(input.value)}
          />
        </div>
        <Button
          type="submit"
          busy={make.isPending}
          disabledReason={disabledReason ?? (name.trim() === '' ? t('alias.nameMissing') : null)}
          className="min-h-9"
        >
          {t('alias.make')}
        </Button>
      </div>
      <p id={hint} className="text-muted text-xs">
        {t('alias.hint')}
      </p>
      {make.isError && <ErrorNotice error={make.error} />}
    </form>
  );
}
