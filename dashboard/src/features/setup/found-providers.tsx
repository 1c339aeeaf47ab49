import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import { type Discovery, discoveriesQuery } from './queries.ts';

/** Keys in the gateway's environment and model servers on its machine, each connected by one click. Nothing where there are none. */
export function FoundProviders() {
  const { t } = useTranslation('setup');
  const api = useApi();
  const found = useQuery(discoveriesQuery(api)).data?.resources ?? [];
  if (found.length === 0) return null;
  return (
    <div className="mt-3">
      <h3 className="font-medium text-sm">{t('found.title')}</h3>
      <ul className="mt-1 flex flex-col gap-1">
        {found.map((row) => (
          <FoundProvider key={row.id} row={row} />
        ))}
      </ul>
    </div>
  );
}

function FoundProvider({ row }: { row: Discovery }) {
  const { t } = useTranslation('setup');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const connect = useMutation({
    mutationFn: async () => {
      const { result } = await api.post<{ result: { connection_id: string } }>(
        `discoveries/${encodeURIComponent(row.id)}`,
        { action: 'connect' },
      );
      await Promise.all(
        ['connections', 'discoveries', 'models'].map((name) =>
          queries.invalidateQueries({ queryKey: [name] }),
        ),
      );
      return api.post<{ message: string }>(`connections/${encodeURIComponent(result.connection_id)}`, {
        action: 'test',
      });
    },
    onSuccess: ({ message }) => notify(message),
    onError: (error) => notify(error.message),
  });
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <span className="min-w-0 flex-1">
        {row.variable === null
          ? t('found.local', { name: row.name, url: row.url ?? '' })
          : t('found.environment', { name: row.name, variable: row.variable })}
      </span>
      {allows(row, 'connect') && (
        <Button busy={connect.isPending} onClick={() => connect.mutate()}>
          {t('found.connect')}
        </Button>
      )}
    </li>
  );
}
