import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';
import type { User } from './queries.ts';

/** Sets a password, one's own or somebody else's. All logins of the user end with it, one's own begins anew. */
export function PasswordForm({ user, own, onClose }: { user: User; own: boolean; onClose(): void }) {
  const { t } = useTranslation('users');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [current, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const save = useMutation({
    mutationFn: async () => {
      await api.post(`users/${encodeURIComponent(user.id)}`, {
        action: 'set_password',
        password,
        ...(own ? { current_password: current } : {}),
      });
      if (own) await api.logIn(user.name, password);
    },
    onSuccess: async () => {
      notify(t('passwordSet', { name: user.name }));
      onClose();
      await queries.invalidateQueries();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={t('action.passwordOf', { name: user.name })}
      description={t('passwordEnds')}
      submit={t('save')}
      busy={save.isPending}
      onSubmit={() => save.mutate()}
    >
      {own && (
        <TextField
          label={t('field.currentPassword')}
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={(event) => setCurrent(event.target.value)}
          autoFocus
          required
        />
      )}
      <TextField
        label={t('field.newPassword')}
        hint={t('field.passwordHint')}
        type="password"
        autoComplete="new-password"
        minLength={8}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        required
      />
      {save.isError && <ErrorNotice error={save.error} />}
    </FormDialog>
  );
}
