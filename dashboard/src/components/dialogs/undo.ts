import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { changeMember, type Fields } from '../../lib/api/change.ts';
import { useApi } from '../../lib/api/client.ts';
import { useNotify } from './toasts.tsx';

/**
 * For a toast that offers to change a member back: what it does then. What somebody else has changed since stays, and the
 * toast says so.
 * @param fieldsOf what is compared: only a difference in these is another's change
 * @returns `seen` is the member as it was left, `former` what it is to be again
 */
export function useUndo<Row extends { id: string }>(
  collection: string,
  fieldsOf: (row: Row) => Fields,
): (seen: Row, former: Fields) => () => void {
  const { t } = useTranslation();
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const undone = async (seen: Row, former: Fields): Promise<void> => {
    const path = `${collection}/${encodeURIComponent(seen.id)}`;
    const { stale } = await changeMember(api, path, { seen, change: former, fieldsOf });
    if (stale !== null) notify(t('stale.notUndone'));
    await queries.invalidateQueries({ queryKey: [collection] });
  };
  return (seen, former) => () => void undone(seen, former).catch((error: Error) => notify(error.message));
}
