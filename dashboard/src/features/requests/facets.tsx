import { useTranslation } from 'react-i18next';
import type { RequestCount } from '../../../../src/ledger/schema.ts';
import { classNames } from '../../components/layout/class-names.ts';
import { exact } from '../../lib/format/numbers.ts';
import type { RequestsSearch } from './search.ts';

/** The filters that stand beside the table, and the attributes whose values they choose. */
const facets = [
  { name: 'outcome', attribute: 'outcome' },
  { name: 'status', attribute: 'status' },
  { name: 'client', attribute: 'client' },
  { name: 'key', attribute: 'key_id' },
  { name: 'model', attribute: 'requested_model' },
  { name: 'connection', attribute: 'connection' },
] as const;

interface FacetsProps {
  counts: readonly RequestCount[];
  search: RequestsSearch;
  onChange(next: Partial<RequestsSearch>): void;
}

/** The values of each attribute with how many requests have them; choosing one filters by it, again takes it away. */
export function Facets({ counts, onChange, search }: FacetsProps) {
  const { i18n, t } = useTranslation('requests');
  return (
    <div className="flex flex-col gap-4">
      {facets.map(({ attribute, name }) => {
        const values = counts.filter((count) => count.attribute === attribute);
        if (values.length === 0) return null;
        const chosen = search[name] === undefined ? null : String(search[name]);
        return (
          <fieldset key={name} className="min-w-0">
            <legend className="mb-1 px-2 font-medium text-muted text-xs">{t(`column.${name}`)}</legend>
            <ul>
              {values.map(({ id, label, requests, value }) => {
                const isChosen = chosen === (value ?? '-');
                const text =
                  value === null
                    ? t('none')
                    : name === 'outcome'
                      ? t(`outcome.${value as 'ok' | 'failed' | 'aborted'}`)
                      : (label ?? (name === 'key' ? t('removedKey') : value));
                return (
                  <li key={id}>
                    <button
                      type="button"
                      aria-pressed={isChosen}
                      title={text}
                      onClick={() =>
                        onChange({
                          [name]: isChosen ? undefined : name === 'status' ? Number(value) : (value ?? '-'),
                        })
                      }
                      className={classNames(
                        'flex min-h-7 w-full items-center justify-between gap-2 rounded-md px-2 text-start text-sm',
                        isChosen ? 'bg-accent-soft text-accent' : 'hover:bg-sunken',
                      )}
                    >
                      <span className="min-w-0 truncate">{text}</span>
                      <span className="nums text-muted text-xs">{exact(requests, i18n.language)}</span>
                    </button>
                  </li>
                );
              })}
            </ul>
          </fieldset>
        );
      })}
    </div>
  );
}
