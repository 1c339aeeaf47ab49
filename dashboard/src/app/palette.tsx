import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { classNames } from '../components/layout/class-names.ts';
import { useActivateCombo } from '../features/combos/activate.ts';
import { combosQuery } from '../features/combos/queries.ts';
import { useApi } from '../lib/api/client.ts';
import { reaches, useRole } from '../lib/api/session.ts';
import { themes, useThemeStore } from '../lib/theme.ts';
import { navigation } from './navigation.ts';

interface Entry {
  key: string;
  group: string;
  text: string;
  run(): void;
}

const MOST = 30;

/** Finds pages, requests by id, combos to switch to, and commands, by typing. */
export function Palette({ onClose }: { onClose(): void }) {
  const { t } = useTranslation();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const entries = useEntries(text.trim());
  const chosen = entries[Math.min(at, entries.length - 1)];
  const run = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, entries.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
    else if (event.key === 'Enter') run(chosen);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog open onClose={onClose} title={t('palette.title')}>
      <input
        type="text"
        role="combobox"
        aria-expanded
        aria-controls="palette-list"
        aria-activedescendant={chosen === undefined ? undefined : `palette-${chosen.key}`}
        aria-label={t('palette.title')}
        placeholder={t('palette.placeholder')}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
        className="min-h-9 w-full rounded-md border border-line bg-page px-3"
      />
      <div
        id="palette-list"
        role="listbox"
        aria-label={t('palette.title')}
        className="mt-2 max-h-[50vh] overflow-y-auto pb-3"
      >
        {entries.length === 0 && <p className="p-4 text-center text-muted">{t('palette.none')}</p>}
        {entries.map((entry) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above has the keys.
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the input above.
          <div
            key={entry.key}
            id={`palette-${entry.key}`}
            role="option"
            aria-selected={entry === chosen}
            onClick={() => run(entry)}
            className={classNames(
              'flex min-h-9 cursor-pointer items-center justify-between gap-3 rounded-md px-3 hover:bg-sunken',
              entry === chosen && 'bg-accent-soft',
            )}
          >
            <span className="truncate">{entry.text}</span>
            <span className="shrink-0 text-muted text-xs">{entry.group}</span>
          </div>
        ))}
      </div>
    </Dialog>
  );
}

function useEntries(text: string): Entry[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const role = useRole();
  const theme = useThemeStore();
  const combos = useQuery(combosQuery(useApi()));
  const activate = useActivateCombo();
  const pages: Entry[] = navigation
    .flatMap(({ items }) => items)
    .filter(({ least }) => reaches(role, least))
    .map(({ to, label }) => ({
      key: `page-${to.slice(1)}`,
      group: t('palette.pages'),
      text: t(label),
      run: () => void navigate({ to }),
    }));
  const switches: Entry[] = (combos.data?.resources ?? [])
    .filter(({ active }) => !active && reaches(role, 'operator'))
    .map((combo) => ({
      key: `combo-${combo.id}`,
      group: t('palette.commands'),
      text: t('combo.switchTo', { name: combo.name }),
      run: () => activate.mutate(combo),
    }));
  const looks: Entry[] = themes.map((name) => ({
    key: `theme-${name}`,
    group: t('palette.commands'),
    text: `${t('theme.label')}: ${t(`theme.${name}`)}`,
    run: () => theme.choose(name),
  }));
  const request: Entry[] =
    /^req_\w+$/.test(text) && reaches(role, 'operator')
      ? [
          {
            key: 'request',
            group: t('nav.requests'),
            text,
            run: () => void navigate({ to: '/requests/$requestId', params: { requestId: text } }),
          },
        ]
      : [];
  const words = text.toLowerCase().split(/\s+/);
  const fitting = [...pages, ...switches, ...looks].filter((entry) =>
    words.every((word) => `${entry.text} ${entry.group}`.toLowerCase().includes(word)),
  );
  return [...request, ...fitting].slice(0, MOST);
}
