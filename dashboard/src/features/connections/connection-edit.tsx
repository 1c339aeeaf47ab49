import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { CheckField, TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { SaveProblem } from '../../components/dialogs/save-problem.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useChange } from '../../lib/api/change.ts';
import { useApi } from '../../lib/api/client.ts';
import { BillingField } from './billing-field.tsx';
import type { Connection } from './queries.ts';

interface ConnectionEditProps {
  connection: Connection;
  onClose(): void;
  /** Begins the form again with the connection as somebody else has left it. */
  onReload(connection: Connection): void;
}

/** What of a connection can be changed and is shown: its key is not. */
function fieldsOf({ base_url, billing, default_model, name, priority, prompt_cache_marks }: Connection) {
  return { name, base_url, billing, default_model, priority, prompt_cache_marks };
}

/** Renames a connection, enters its key again, and changes what it is preferred for. Only what was changed is sent. */
export function ConnectionEdit({ connection, onClose, onReload }: ConnectionEditProps) {
  const { t } = useTranslation('connections');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const edit = useChange('connections', fieldsOf);
  const [name, setName] = useState(connection.name);
  const [key, setKey] = useState('');
  const [address, setAddress] = useState(connection.base_url ?? '');
  const [model, setModel] = useState(connection.default_model ?? '');
  const [priority, setPriority] = useState(String(connection.priority));
  const [billing, setBilling] = useState(connection.billing);
  const [marks, setMarks] = useState(connection.prompt_cache_marks);
  const path = `connections/${encodeURIComponent(connection.id)}`;
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim());
  const save = useMutation({
    mutationFn: async () => {
      const change = {
        ...(name.trim() === connection.name ? {} : { name: name.trim() }),
        ...(key.trim() === '' ? {} : { api_key: key.trim() }),
        ...(orNull(address) === connection.base_url ? {} : { base_url: orNull(address) }),
        ...(orNull(model) === connection.default_model ? {} : { default_model: orNull(model) }),
        ...(Number(priority) === connection.priority ? {} : { priority: Number(priority) }),
        ...(billing === connection.billing ? {} : { billing }),
        ...(marks === connection.prompt_cache_marks ? {} : { prompt_cache_marks: marks }),
      };
      await edit.send(connection, change);
      await queries.invalidateQueries({ queryKey: ['connections'] });
      onClose();
      if (key.trim() === '') return;
      // Checking and saving are one step: whether a key works is told at once.
      const tested = await api
        .post<{ message: string }>(path, { action: 'test' })
        .then(({ message }) => message)
        .catch((error: Error) => error.message);
      notify(tested);
      await queries.invalidateQueries({ queryKey: ['connections'] });
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={t('edit.title', { name: connection.name })}
      submit={key.trim() === '' ? t('edit.save') : t('edit.saveAndTest')}
      busy={save.isPending}
      disabledReason={name.trim() === '' ? t('edit.needsName') : null}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label={t('form.name')}
        hint={t('edit.nameHint')}
        value={name}
        onChange={(event) => setName(event.target.value)}
        required
      />
      {connection.auth_type !== 'oauth' && (
        <TextField
          label={t('edit.key')}
          hint={t('edit.keyHint')}
          type="password"
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
      )}
      <TextField
        label={t('form.address')}
        hint={t('edit.addressHint')}
        value={address}
        onChange={(event) => setAddress(event.target.value)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t('edit.model')} value={model} onChange={(event) => setModel(event.target.value)} />
        <TextField
          label={t('edit.priority')}
          hint={t('edit.priorityHint')}
          type="number"
          min={-1000}
          max={1000}
          value={priority}
          onChange={(event) => setPriority(event.target.value)}
        />
      </div>
      <BillingField value={billing} onChange={setBilling} />
      <CheckField
        label={t('edit.marks')}
        checked={marks}
        onChange={(event) => setMarks(event.target.checked)}
      />
      {save.isError && (
        <SaveProblem
          error={save.error}
          edit={edit}
          labels={{
            name: t('form.name'),
            base_url: t('form.address'),
            default_model: t('edit.model'),
            priority: t('edit.priority'),
            billing: t('billing.title'),
            prompt_cache_marks: t('edit.marks'),
          }}
          onReload={onReload}
          onKeep={() => save.mutate()}
        />
      )}
    </FormDialog>
  );
}
