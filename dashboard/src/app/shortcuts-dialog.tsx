import { useTranslation } from 'react-i18next';
import { Dialog } from '../components/dialogs/dialog.tsx';

const rows: readonly { keys: readonly string[]; label: string }[] = [
  { keys: ['⌘K', 'Ctrl K'], label: 'shortcuts.palette' },
  { keys: ['/'], label: 'shortcuts.filter' },
  { keys: ['↑', '↓'], label: 'shortcuts.rows' },
  { keys: ['Enter'], label: 'shortcuts.open' },
  { keys: ['J', 'K'], label: 'shortcuts.walk' },
  { keys: ['Esc'], label: 'shortcuts.close' },
  { keys: ['?'], label: 'shortcuts.help' },
];

/** The keys of all pages. */
export function ShortcutsDialog({ onClose }: { onClose(): void }) {
  const { t } = useTranslation();
  return (
    <Dialog open onClose={onClose} title={t('shortcuts.title')}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-5 gap-y-2 pb-4">
        {rows.map(({ keys, label }) => (
          <div key={label} className="contents">
            <dt className="flex gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="rounded border border-line bg-sunken px-1.5 font-sans text-xs leading-5"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{t(label)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
