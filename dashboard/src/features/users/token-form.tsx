import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { useApi } from '../../lib/api/client.ts';
import { scopesQuery, type Token } from './queries.ts';

export interface NewToken {
  name: string;
  /** The text, which is shown this once. */
  token: string;
}

/** Makes a token for a script, which may do what is chosen here and no more. */
export function TokenForm({ onClose, onCreated }: { onClose(): void; onCreated(token: NewToken): void }) {
  const { t } = useTranslation('users');
  const api = useApi();
  const queries = useQueryClient();
  const scopes = useQuery(scopesQuery(api));
  const [name, setName] = useState('');
  const [expires, setExpires] = useState('');
  const [networks, setNetworks] = useState('');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const create = useMutation({
    mutationFn: () => {
      const cidrs = networks.split(/[\s,]+/).filter((one) => one !== '');
      return api.post<{ results: (Token & NewToken)[] }>('tokens', {
        name,
        scopes: [...chosen],
        ...(expires === '' ? {} : { expires_at: new Date(`${expires}T23:59:59Z`).toISOString() }),
        ...(cidrs.length === 0 ? {} : { cidrs }),
      });
    },
    onSuccess: async ({ results: [made] }) => {
      await queries.invalidateQueries({ queryKey: ['tokens'] });
      if (made !== undefined) onCreated(made);
    },
  });
  const toggle = (scope: string) => {
    const next = new Set(chosen);
    if (!next.delete(scope)) next.add(scope);
    setChosen(next);
  };
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={t('tokens.create')}
      description={t('tokens.createWhat')}
      submit={t('tokens.create')}
      busy={create.isPending}
      disabledReason={chosen.size === 0 ? t('tokens.needsScope') : null}
      onSubmit={() => create.mutate()}
    >
      <TextField
        label={t('tokens.name')}
        hint={t('tokens.nameHint')}
        value={name}
        onChange={(event) => setName(event.target.value)}
        autoFocus
        required
      />
      <QueryState query={scopes} lines={6}>
        {(all) => (
          <fieldset>
            <legend className="mb-1 font-medium">{t('tokens.scopes')}</legend>
            <div className="mb-2 flex gap-2">
              <Button onClick={() => setChosen(new Set(all.filter((scope) => scope.endsWith(':read'))))}>
                {t('tokens.readAll')}
              </Button>
              <Button onClick={() => setChosen(new Set())}>{t('tokens.none')}</Button>
            </div>
            <div className="grid grid-cols-1 gap-x-4 gap-y-1 sm:grid-cols-3">
              {all.map((scope) => (
                <label key={scope} className="flex min-h-7 items-center gap-2">
                  <input type="checkbox" checked={chosen.has(scope)} onChange={() => toggle(scope)} />
                  <code className="text-xs">{scope}</code>
                </label>
              ))}
            </div>
          </fieldset>
        )}
      </QueryState>
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        <TextField
          label={t('tokens.expires')}
          hint={t('tokens.expiresHint')}
          type="date"
          value={expires}
          onChange={(event) => setExpires(event.target.value)}
        />
        <TextField
          label={t('tokens.networks')}
          hint={t('tokens.networksHint')}
          value={networks}
          onChange={(event) => setNetworks(event.target.value)}
        />
      </div>
      {create.isError && <ErrorNotice error={create.error} />}
    </FormDialog>
  );
}
