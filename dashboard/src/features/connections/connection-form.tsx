import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorNotice } from '../../components/error-notice.tsx';
import { TextField } from '../../components/field.tsx';
import { useNotify } from '../../components/toasts.tsx';
import { useApi } from '../../lib/api/client.ts';
import { type Connection, providersQuery } from './queries.ts';

/** Connects a provider: found by typing, a key pasted, and tested in the same step. */
export function ConnectionForm({ onClose }: { onClose(): void }) {
  const { t } = useTranslation('connections');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const providers = useQuery(providersQuery(api)).data?.resources ?? [];
  const [provider, setProvider] = useState('');
  const [name, setName] = useState('');
  const [address, setAddress] = useState('');
  const [key, setKey] = useState('');
  const chosen = providers.find(({ id }) => id === provider.trim());
  const add = useMutation({
    mutationFn: async () => {
      const body = {
        provider: provider.trim(),
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...(address.trim() === '' ? {} : { base_url: address.trim() }),
        ...(key.trim() === '' ? {} : { api_key: key.trim() }),
      };
      const { results } = await api.post<{ results: Connection[] }>('connections', body);
      const [made] = results;
      await queries.invalidateQueries({ queryKey: ['connections'] });
      if (made === undefined) return;
      onClose();
      // What the test finds is shown at the connection, which stays as it is when it fails.
      const tested = await api
        .post<{ message: string }>(`connections/${encodeURIComponent(made.id)}`, { action: 'test' })
        .then(({ message }) => message)
        .catch((error: Error) => error.message);
      notify(tested);
      await queries.invalidateQueries({ queryKey: ['connections'] });
    },
  });
  const missing =
    chosen === undefined
      ? t('form.needsProvider')
      : chosen.needs_base_url && address.trim() === ''
        ? t('form.needsAddress')
        : null;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('add')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button
            variant="primary"
            busy={add.isPending}
            disabledReason={missing}
            onClick={() => add.mutate()}
          >
            {t('form.submit')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 pb-3">
        <TextField
          label={t('form.provider')}
          hint={chosen === undefined ? t('form.providerHint', { count: providers.length }) : chosen.name}
          list="providers"
          autoComplete="off"
          value={provider}
          onChange={(event) => setProvider(event.target.value)}
          autoFocus
          required
        />
        <datalist id="providers">
          {providers.map(({ id, name: title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </datalist>
        {chosen?.needs_key !== false && (
          <TextField
            label={t('form.key')}
            hint={t('form.keyHint')}
            type="password"
            autoComplete="off"
            value={key}
            onChange={(event) => setKey(event.target.value)}
          />
        )}
        <TextField
          label={t('form.address')}
          hint={chosen?.base_url ?? undefined}
          value={address}
          onChange={(event) => setAddress(event.target.value)}
          required={chosen?.needs_base_url}
        />
        <TextField
          label={t('form.name')}
          hint={t('form.nameHint')}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {add.isError && <ErrorNotice error={add.error} />}
      </div>
    </Dialog>
  );
}
