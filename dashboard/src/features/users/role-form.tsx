import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SelectField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { SaveProblem } from '../../components/dialogs/save-problem.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useChange } from '../../lib/api/change.ts';
import type { Role } from '../../lib/api/session.ts';
import type { User } from './queries.ts';
import { roles } from './roles.ts';

interface RoleFormProps {
  user: User;
  onClose(): void;
  /** Begins the form again with the user as somebody else has left it. */
  onReload(user: User): void;
}

const fieldsOf = ({ role }: User) => ({ role });

/** Gives a user another role, which ends their logins. */
export function RoleForm({ user, onClose, onReload }: RoleFormProps) {
  const { t } = useTranslation('users');
  const queries = useQueryClient();
  const notify = useNotify();
  const edit = useChange('users', fieldsOf);
  const [role, setRole] = useState(user.role);
  const save = useMutation({
    mutationFn: () => edit.send(user, { role }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['users'] });
      notify(t('roleChanged', { name: user.name, role: t(`common:role.${role}`) }));
      onClose();
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={t('action.roleOf', { name: user.name })}
      submit={t('save')}
      busy={save.isPending}
      disabledReason={role === user.role ? t('roleSame') : null}
      onSubmit={() => save.mutate()}
    >
      <SelectField
        label={t('field.role')}
        hint={`${t(`roleWhat.${role}`)} ${t('roleEnds')}`}
        value={role}
        onChange={(event) => setRole(event.target.value as Role)}
        choices={roles.map((value) => ({ value, label: t(`common:role.${value}`) }))}
      />
      {save.isError && (
        <SaveProblem
          error={save.error}
          edit={edit}
          labels={{ role: t('field.role') }}
          onReload={onReload}
          onKeep={() => save.mutate()}
        />
      )}
    </FormDialog>
  );
}
