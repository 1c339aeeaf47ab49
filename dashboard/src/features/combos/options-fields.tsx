import { useTranslation } from 'react-i18next';
import { CheckField, TextField } from '../../components/controls/field.tsx';
import type { Combo } from './queries.ts';

type Options = Combo['options'];

const switches = ['affinity', 'continue_stream', 'cache', 'prompt_cache_marks'] as const;
const numbers = [
  { name: 'wait_ms', most: 60_000, least: 0 },
  { name: 'max_attempts', most: 50, least: 1 },
  { name: 'max_elapsed_ms', most: 3_600_000, least: 0 },
] as const;

/** What a combo does beside ordering its targets, folded away. */
export function OptionsFields({ onChange, options }: { options: Options; onChange(options: Options): void }) {
  const { t } = useTranslation('combos');
  return (
    <details className="rounded-md border border-line px-3 py-2">
      <summary className="font-medium">{t('options.title')}</summary>
      <div className="mt-3 flex flex-col gap-3">
        {switches.map((name) => (
          <CheckField
            key={name}
            label={t(`options.${name}`)}
            hint={t(`options.${name}_hint`)}
            checked={options[name]}
            onChange={(event) => onChange({ ...options, [name]: event.target.checked })}
          />
        ))}
        <div className="grid gap-4 sm:grid-cols-3">
          {numbers.map(({ least, most, name }) => (
            <TextField
              key={name}
              type="number"
              min={least}
              max={most}
              label={t(`options.${name}`)}
              value={options[name]}
              onChange={(event) => onChange({ ...options, [name]: event.target.valueAsNumber || least })}
            />
          ))}
        </div>
      </div>
    </details>
  );
}
