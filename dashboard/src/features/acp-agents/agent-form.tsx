import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TextAreaField, TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';
import { acpAgentsKey } from './queries.ts';

/** Describes a program that speaks ACP and is not in the catalogue. */
export function AgentForm({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('acpAgents');
  const api = useApi();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [command, setCommand] = useState('');
  const [args, setArgs] = useState('');
  const add = useMutation({
    mutationFn: async () => {
      const list = args.split('\n').filter((line) => line !== '');
      await api.post('acp_agents', { name: name.trim(), command: command.trim(), args: list });
      await queries.invalidateQueries({ queryKey: acpAgentsKey });
      onClose();
    },
  });
  const missing =
    name.trim() === '' ? t('form.needsName') : command.trim() === '' ? t('form.needsCommand') : null;
  return (
    <FormDialog
      onClose={onClose}
      title={t('addCustomAgent')}
      description={t('addCustomAgentDesc')}
      submit={t('form.submit')}
      busy={add.isPending}
      disabledReason={missing}
      onSubmit={() => add.mutate()}
    >
      <TextField
        label={t('form.name')}
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoFocus
        required
      />
      <TextField
        label={t('form.command')}
        hint={t('form.commandHint')}
        value={command}
        onChange={(event) => setCommand(event.target.value)}
        required
      />
      <TextAreaField
        label={t('form.args')}
        hint={t('form.argsHint')}
        value={args}
        onChange={(event) => setArgs(event.target.value)}
      />
      {add.isError && <ErrorNotice error={add.error} />}
    </FormDialog>
  );
}
