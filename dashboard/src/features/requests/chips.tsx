import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { timeFormat } from '../../lib/format/formatters.ts';
import { filterNames, type RequestsSearch } from './search.ts';

interface FilterChipsProps {
  search: RequestsSearch;
  /** Names of keys by id. */
  names: ReadonlyMap<string, string>;
  onChange(next: Partial<RequestsSearch>): void;
}

/** The filters in force, each of which can be taken away. */
export function FilterChips({ names, onChange, search }: FilterChipsProps) {
  const { i18n, t } = useTranslation('requests');
  const { from, status, tag, to } = search;
  const time = (at: string) =>
    timeFormat(i18n.language, { dateStyle: 'medium', timeStyle: 'short' }).format(Date.parse(at));
  const chips = [
    ...filterNames.flatMap((name) => {
      const value = search[name];
      if (value === undefined) return [];
      const text = value === '-' ? t('none') : name === 'key' ? (names.get(value) ?? t('removedKey')) : value;
      return [{ name, text: `${t(`column.${name}`)}: ${text}`, without: { [name]: undefined } }];
    }),
    ...(status === undefined
      ? []
      : [{ name: 'status', text: `${t('column.status')}: ${status}`, without: { status: undefined } }]),
    ...(tag === undefined ? [] : [{ name: 'tag', text: tag, without: { tag: undefined } }]),
    ...(from === undefined
      ? []
      : [
          {
            name: 'from',
            text: to === undefined ? t('since', { from: time(from) }) : `${time(from)} – ${time(to)}`,
            without: { from: undefined, to: undefined },
          },
        ]),
  ];
  return chips.map(({ name, text, without }) => (
    <Button key={name} onClick={() => onChange(without)} title={t('removeFilter')} className="max-w-72">
      <span className="min-w-0 truncate">{text}</span> ×
    </Button>
  ));
}
