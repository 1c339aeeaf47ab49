import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';

/** Makes a backup, with or without the key that decrypts the stored credentials. */
export function CreateBackup({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('backups');
  const api = useApi();
  const queries = useQueryClient();
  const [withKey, setWithKey] = useState(true);
  const create = useMutation({
    mutationFn: () => api.post('backups', { include_key: withKey }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['tasks'] });
      await queries.invalidateQueries({ queryKey: ['backups'] });
      onClose();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={t('create')}
      submit={t('create')}
      busy={create.isPending}
      onSubmit={() => create.mutate()}
    >
      <p className="text-muted">{t('createWhat')}</p>
      <label className="flex items-start gap-2">
        <input
          type="checkbox"
          className="mt-1"
          checked={withKey}
          onChange={(event) => setWithKey(event.target.checked)}
        />
        <span>
          {t('withKey')}
          <span className="block text-muted text-xs">{t(withKey ? 'withKeyYes' : 'withKeyNo')}</span>
        </span>
      </label>
      {create.isError && <ErrorNotice error={create.error} />}
    </FormDialog>
  );
}
