import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { TextField } from '../../components/controls/field.tsx';
import type { Provider } from './queries.ts';

/** How many are shown at once. */
const MOST = 6;

interface ProviderPickerProps {
  providers: readonly Provider[];
  chosen: Provider | undefined;
  onChoose(provider: Provider | undefined): void;
}

/** Finds a provider by typing a part of its name or id; Enter takes the first. */
export function ProviderPicker({ chosen, onChoose, providers }: ProviderPickerProps) {
  const { t } = useTranslation('connections');
  const [text, setText] = useState('');
  if (chosen !== undefined)
    return (
      <div className="flex items-center justify-between gap-3 rounded-md border border-line px-3 py-2">
        <span className="min-w-0">
          <span className="block truncate font-medium">{chosen.name}</span>
          <span className="block truncate text-muted text-xs">
            {chosen.id} · {chosen.base_url ?? chosen.base_url_of ?? t('form.ownAddress')}
          </span>
        </span>
        <Button variant="quiet" onClick={() => onChoose(undefined)}>
          {t('form.change')}
        </Button>
      </div>
    );
  const fitting = fittingProviders(providers, text);
  return (
    <div className="flex flex-col gap-2">
      <TextField
        label={t('form.provider')}
        hint={t('form.providerHint', { count: providers.length })}
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          event.preventDefault();
          onChoose(fitting[0]);
        }}
        autoFocus
        required
      />
      <ul className="flex flex-wrap gap-1.5" aria-label={t('form.provider')}>
        {fitting.slice(0, MOST).map((provider) => (
          <li key={provider.id}>
            <Button onClick={() => onChoose(provider)} title={provider.id}>
              {provider.name}
            </Button>
          </li>
        ))}
      </ul>
      {fitting.length === 0 && <p className="text-muted">{t('form.noProvider')}</p>}
      {fitting.length > MOST && (
        <p className="text-muted text-xs">{t('form.moreProviders', { count: fitting.length - MOST })}</p>
      )}
    </div>
  );
}

/** Those that begin with the text before those that have it anywhere. */
function fittingProviders(providers: readonly Provider[], text: string): readonly Provider[] {
  const wanted = text.trim().toLowerCase();
  const rank = ({ id, name }: Provider) =>
    id === wanted ? 0 : id.startsWith(wanted) || name.toLowerCase().startsWith(wanted) ? 1 : 2;
  return providers
    .filter(
      ({ category, id, name }) =>
        category !== 'agent' && category !== 'demo' && `${id} ${name}`.toLowerCase().includes(wanted),
    )
    .toSorted((a, b) => rank(a) - rank(b));
}
