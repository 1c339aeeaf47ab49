import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SelectField, TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';
import { BillingField } from './billing-field.tsx';
import { ProviderPicker } from './provider-picker.tsx';
import { type Connection, type Provider, providersQuery } from './queries.ts';

interface ConnectionFormProps {
  onClose(): void;
  /** A connection was made that somebody has to log in for. */
  onLogin(connection: Connection): void;
}

const loginFields = ['issuer', 'client_id', 'client_secret', 'scopes'] as const;

/** Connects a provider: found by typing, a key pasted or a login described, and tested in the same step. */
export function ConnectionForm({ onClose, onLogin }: ConnectionFormProps) {
  const { t } = useTranslation('connections');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const providers = useQuery(providersQuery(api)).data?.resources ?? [];
  const [chosen, setChosen] = useState<Provider | undefined>();
  const [how, setHow] = useState<'key' | 'login'>('key');
  const [billing, setBilling] = useState<Connection['billing']>('metered');
  const [fields, setFields] = useState<Readonly<Record<string, string>>>({});
  const value = (name: string) => fields[name] ?? '';
  const control = (name: string) => ({
    value: value(name),
    autoComplete: 'off',
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value }),
  });
  const parts = partsOf(chosen);
  const add = useMutation({
    mutationFn: async () => {
      const { results } = await api.post<{ results: Connection[] }>('connections', {
        provider: chosen?.id,
        ...given({ name: value('name'), base_url: value('base_url') }),
        billing,
        ...(how === 'key'
          ? given({ api_key: value('api_key') })
          : {
              oauth: {
                ...given({
                  issuer: value('issuer'),
                  client_id: value('client_id'),
                  client_secret: value('client_secret'),
                }),
                ...(value('scopes').trim() === '' ? {} : { scopes: value('scopes').trim().split(/\s+/) }),
              },
            }),
        ...(parts.length === 0 || value('base_url').trim() !== ''
          ? {}
          : { base_url_parameters: Object.fromEntries(parts.map((part) => [part, value(`part.${part}`)])) }),
      });
      const [made] = results;
      await queries.invalidateQueries({ queryKey: ['connections'] });
      if (made === undefined) return;
      onClose();
      if (how === 'login') return onLogin(made);
      // What the test finds is shown at the connection, which stays as it is when it fails.
      const tested = await api
        .post<{ message: string }>(`connections/${encodeURIComponent(made.id)}`, { action: 'test' })
        .then(({ message }) => message)
        .catch((error: Error) => error.message);
      notify(tested);
      await queries.invalidateQueries({ queryKey: ['connections'] });
    },
  });
  const missing = missingOf(chosen, how, value, parts);
  const choose = (next: Provider | undefined) => {
    setChosen(next);
    if (next !== undefined && !takesLogin(next)) setHow('key');
  };
  return (
    <FormDialog
      onClose={onClose}
      title={t('add')}
      submit={how === 'login' ? t('form.submitLogin') : t('form.submit')}
      busy={add.isPending}
      disabledReason={missing === null ? null : t(missing)}
      onSubmit={() => add.mutate()}
    >
      <ProviderPicker providers={providers} chosen={chosen} onChoose={choose} />
      {chosen !== undefined && (
        <>
          {takesLogin(chosen) && (
            <SelectField
              label={t('form.how')}
              value={how}
              onChange={(event) => setHow(event.target.value === 'login' ? 'login' : 'key')}
              choices={[
                { value: 'key', label: t('form.byKey') },
                { value: 'login', label: t('form.byLogin') },
              ]}
            />
          )}
          {how === 'key' && (
            <TextField
              label={t('form.key')}
              hint={chosen.needs_key ? t('form.keyHint') : t('form.keyOptional')}
              type="password"
              required={chosen.needs_key}
              {...control('api_key')}
              autoFocus
            />
          )}
          {how === 'key' && chosen.needs_key && (
            <a
              href={chosen.website}
              target="_blank"
              rel="noreferrer"
              className="-mt-2 inline-flex items-center gap-1 self-start text-accent text-xs underline"
            >
              {t('form.website', { name: chosen.name })} <ExternalLink size={12} aria-hidden />
            </a>
          )}
          {how === 'login' &&
            loginFields.map((name) => (
              <TextField
                key={name}
                label={t(`form.login.${name}`)}
                hint={t(`form.login.${name}_hint`)}
                type={name === 'client_secret' ? 'password' : 'text'}
                required={name === 'client_id' || name === 'issuer'}
                {...control(name)}
              />
            ))}
          {parts.map((part) => (
            <TextField
              key={part}
              label={part}
              hint={t('form.partHint', { address: chosen.base_url_of ?? '' })}
              required={value('base_url').trim() === ''}
              {...control(`part.${part}`)}
            />
          ))}
          <TextField
            label={t('form.address')}
            hint={chosen.base_url ?? undefined}
            required={chosen.needs_base_url && parts.length === 0}
            {...control('base_url')}
          />
          <TextField label={t('form.name')} hint={t('form.nameHint')} {...control('name')} />
          {chosen.needs_key && <BillingField value={billing} onChange={setBilling} />}
        </>
      )}
      {add.isError && <ErrorNotice error={add.error} />}
    </FormDialog>
  );
}

/** Names in braces of the provider's address. */
function partsOf(provider: Provider | undefined): string[] {
  return [...(provider?.base_url_of ?? '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** What runs on somebody's own machine without a key has nobody who logs others in; a server of one's own may. */
function takesLogin({ needs_base_url, needs_key }: Provider): boolean {
  return needs_key || needs_base_url;
}

/** The key of the sentence that says what is missing; null when nothing is. */
function missingOf(
  provider: Provider | undefined,
  how: 'key' | 'login',
  value: (name: string) => string,
  parts: readonly string[],
): string | null {
  const empty = (name: string) => value(name).trim() === '';
  if (provider === undefined) return 'form.needsProvider';
  if (how === 'key' && provider.needs_key && empty('api_key')) return 'form.needsKey';
  if (how === 'login' && (empty('client_id') || empty('issuer'))) return 'form.needsLogin';
  const partMissing = parts.some((part) => empty(`part.${part}`));
  const needsAddress = provider.needs_base_url && (parts.length === 0 || partMissing);
  return needsAddress && empty('base_url') ? 'form.needsAddress' : null;
}

/** Without what was left empty. */
function given(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields)
      .map(([name, text]) => [name, text.trim()] as const)
      .filter(([, text]) => text !== ''),
  );
}
