import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useApi } from '../../lib/api/client.ts';
import { keepKey, type PlaygroundKey } from './key.ts';

/** Ends the use of a key: one that was made for this window is revoked, one that somebody pasted is forgotten. */
export function ForgetKey({ playgroundKey: { id } }: { playgroundKey: PlaygroundKey }) {
  const { t } = useTranslation('playground');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const forget = useMutation({
    mutationFn: async () => {
      keepKey(null);
      if (id !== null) await api.remove(`keys/${encodeURIComponent(id)}`);
    },
    onError: (error) => notify(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  return (
    <Button variant="quiet" className="ms-auto" onClick={() => forget.mutate()}>
      {t(id === null ? 'key.forget' : 'key.revoke')}
    </Button>
  );
}
