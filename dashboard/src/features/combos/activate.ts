import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useApi } from '../../lib/api/client.ts';
import { type Combo, combosQuery } from './queries.ts';

/** Makes a combo the one that `auto` means; the toast undoes it. */
export function useActivateCombo() {
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const { t } = useTranslation();
  const activate = (id: string) => api.post(`combos/${encodeURIComponent(id)}`, { action: 'activate' });
  return useMutation({
    mutationFn: async (combo: Pick<Combo, 'id' | 'name'>) => {
      const before = queries.getQueryData(combosQuery(api).queryKey)?.resources.find(({ active }) => active);
      await activate(combo.id);
      await queries.invalidateQueries({ queryKey: ['combos'] });
      const undo = async (id: string) => {
        await activate(id);
        await queries.invalidateQueries({ queryKey: ['combos'] });
      };
      notify(
        t('combo.switched', { name: combo.name }),
        before === undefined ? undefined : () => void undo(before.id),
      );
    },
    onError: (error) => notify(error.message),
  });
}
