import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import type { Alias } from './queries.ts';

/** Other names of models: what each leads to, and taking one away, which can be undone. */
export function AliasesList({ aliases }: { aliases: readonly Alias[] }) {
  const { t } = useTranslation('models');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ['aliases'] });
    await queries.invalidateQueries({ queryKey: ['models'] });
  };
  const remove = useMutation({
    mutationFn: ({ id }: Alias) => api.remove(`aliases/${encodeURIComponent(id)}`),
    onSuccess: async (_, { name, target }) => {
      await refresh();
      notify(t('alias.removed', { name }), () => {
        void api.post('aliases', { name, target }).then(refresh, (error: Error) => notify(error.message));
      });
    },
    onError: (error) => notify(error.message),
  });
  return (
    <ul className="divide-y divide-line">
      {aliases.map((alias) => (
        <li key={alias.id} className="flex min-h-10 items-center gap-3 px-4">
          <span className="min-w-0 flex-1 truncate">
            <code className="font-medium">{alias.name}</code> <span className="text-muted">→</span>{' '}
            <code>{alias.target}</code>
          </span>
          {allows(alias, 'delete') && (
            <IconButton
              icon={Trash2}
              label={t('alias.remove', { name: alias.name })}
              onClick={() => remove.mutate(alias)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}
