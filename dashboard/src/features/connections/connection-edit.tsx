import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorNotice } from '../../components/error-notice.tsx';
import { CheckField, TextField } from '../../components/field.tsx';
import { useNotify } from '../../components/toasts.tsx';
import { useApi } from '../../lib/api/client.ts';
import type { Connection } from './queries.ts';

/** Renames a connection, enters its key again, and changes what it is preferred for. Only what was changed is sent. */
export function ConnectionEdit({ connection, onClose }: { connection: Connection; onClose(): void }) {
  const { t } = useTranslation('connections');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [name, setName] = useState(connection.name);
  const [key, setKey] = useState('');
  const [address, setAddress] = useState(connection.base_url ?? '');
  const [model, setModel] = useState(connection.default_model ?? '');
  const [priority, setPriority] = useState(String(connection.priority));
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
        ...(marks === connection.prompt_cache_marks ? {} : { prompt_cache_marks: marks }),
      };
      if (Object.keys(change).length > 0) await api.patch(path, change);
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
    <Dialog
      open
      onClose={onClose}
      title={t('edit.title', { name: connection.name })}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button
            variant="primary"
            busy={save.isPending}
            disabledReason={name.trim() === '' ? t('edit.needsName') : null}
            onClick={() => save.mutate()}
          >
            {key.trim() === '' ? t('edit.save') : t('edit.saveAndTest')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 pb-3">
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
          <TextField
            label={t('edit.model')}
            value={model}
            onChange={(event) => setModel(event.target.value)}
          />
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
        <CheckField
          label={t('edit.marks')}
          checked={marks}
          onChange={(event) => setMarks(event.target.checked)}
        />
        {save.isError && <ErrorNotice error={save.error} />}
      </div>
    </Dialog>
  );
}
