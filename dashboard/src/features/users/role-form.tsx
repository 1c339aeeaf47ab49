import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorNotice } from '../../components/error-notice.tsx';
import { SelectField } from '../../components/field.tsx';
import { useNotify } from '../../components/toasts.tsx';
import { useApi } from '../../lib/api/client.ts';
import type { Role } from '../../lib/api/session.ts';
import type { User } from './queries.ts';
import { roles } from './roles.ts';

/** Gives a user another role, which ends their logins. */
export function RoleForm({ user, onClose }: { user: User; onClose(): void }) {
  const { t } = useTranslation('users');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [role, setRole] = useState(user.role);
  const save = useMutation({
    mutationFn: () => api.patch(`users/${encodeURIComponent(user.id)}`, { role }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['users'] });
      notify(t('roleChanged', { name: user.name, role: t(`common:role.${role}`) }));
      onClose();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('action.roleOf', { name: user.name })}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button
            variant="primary"
            busy={save.isPending}
            disabledReason={role === user.role ? t('roleSame') : null}
            onClick={() => save.mutate()}
          >
            {t('save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 pb-3">
        <SelectField
          label={t('field.role')}
          hint={`${t(`roleWhat.${role}`)} ${t('roleEnds')}`}
          value={role}
          onChange={(event) => setRole(event.target.value as Role)}
          choices={roles.map((value) => ({ value, label: t(`common:role.${value}`) }))}
        />
        {save.isError && <ErrorNotice error={save.error} />}
      </div>
    </Dialog>
  );
}
