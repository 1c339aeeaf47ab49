import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useApi } from '../../lib/api/client.ts';
import { ApiError } from '../../lib/api/error.ts';
import { type Combo, combosQuery } from './queries.ts';

/** Makes a combo the one that `auto` means; the toast undoes it, unless somebody else has made another active since. */
export function useActivateCombo() {
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const { t } = useTranslation();
  const activate = async (id: string, insteadOf?: string): Promise<void> => {
    const which = insteadOf === undefined ? {} : { instead_of: insteadOf };
    try {
      await api.post(`combos/${encodeURIComponent(id)}`, { action: 'activate', ...which });
    } finally {
      await queries.invalidateQueries({ queryKey: ['combos'] });
    }
  };
  const undo = (former: string, active: string): Promise<void> =>
    activate(former, active).catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 412) notify(t('stale.notUndone'));
      else notify(error instanceof Error ? error.message : String(error));
    });
  return useMutation({
    mutationFn: async (combo: Pick<Combo, 'id' | 'name'>) => {
      const before = queries.getQueryData(combosQuery(api).queryKey)?.resources.find(({ active }) => active);
      await activate(combo.id);
      notify(
        t('combo.switched', { name: combo.name }),
        before === undefined ? undefined : () => void undo(before.id, combo.id),
      );
    },
    onError: (error) => notify(error.message),
  });
}
