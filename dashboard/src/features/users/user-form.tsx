import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SelectField, TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';
import type { Role } from '../../lib/api/session.ts';
import { roles } from './roles.ts';

/** Makes a user with a role and a first password, which they can change themselves. */
export function UserForm({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('users');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [name, setName] = useState('');
  const [displayName, setDisplayName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const [password, setPassword] = useState('');
  const create = useMutation({
    mutationFn: () =>
      api.post('users', {
        name,
        role,
        password,
        ...(displayName.trim() === '' ? {} : { display_name: displayName }),
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['users'] });
      notify(t('created', { name: name.trim().toLowerCase() }));
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
      <TextField
        label={t('field.name')}
        hint={t('field.nameHint')}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoFocus
        required
      />
      <TextField
        label={t('field.displayName')}
        value={displayName}
        onChange={(event) => setDisplayName(event.target.value)}
      />
      <SelectField
        label={t('field.role')}
        hint={t(`roleWhat.${role}`)}
        value={role}
        onChange={(event) => setRole(event.target.value as Role)}
        choices={roles.map((value) => ({ value, label: t(`common:role.${value}`) }))}
      />
      <TextField
        label={t('field.password')}
        hint={t('field.passwordHint')}
        type="password"
        autoComplete="new-password"
        minLength={8}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        required
      />
      {create.isError && <ErrorNotice error={create.error} />}
    </FormDialog>
  );
}
