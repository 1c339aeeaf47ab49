import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type Change, ChangedMeanwhile } from '../../lib/api/change.ts';
import { Button } from '../controls/button.tsx';
import { ErrorNotice } from '../layout/error-notice.tsx';

interface SaveProblemProps<Row> {
  error: unknown;
  edit: Change<Row>;
  /** What the form calls each field. */
  labels: Readonly<Record<string, string>>;
  /** Begins the form again with the member as somebody else has left it. */
  onReload(theirs: Row): void;
  /** Saves again. */
  onKeep(): void;
}

/** Why a form was not saved. Where somebody else was faster: what differs, and which of the two is to stay. */
export function SaveProblem<Row>({ edit, error, labels, onKeep, onReload }: SaveProblemProps<Row>) {
  const { t } = useTranslation();
  const part = useRef<HTMLElement>(null);
  const { stale } = edit;
  const shown = error instanceof ChangedMeanwhile && stale !== null;
  useEffect(() => {
    if (shown) part.current?.focus();
  }, [shown]);
  if (!shown) return <ErrorNotice error={error} />;
  const text = (value: unknown): string => {
    if (typeof value === 'boolean') return value ? t('stale.yes') : t('stale.no');
    if (Array.isArray(value) && value.length > 0) return value.map(text).join(', ');
    if (typeof value !== 'object' || value === null) return String(value ?? '') || t('stale.empty');
    const members = Object.entries(value);
    return members.map(([name, member]) => `${name}=${text(member)}`).join(' ') || t('stale.empty');
  };
  return (
    <section ref={part} tabIndex={-1} aria-label={t('stale.title')} className="rounded-md bg-warn-soft p-3">
      <p className="font-medium">{t('stale.title')}</p>
      <p className="mt-0.5 text-muted">{t('stale.what')}</p>
      <table className="mt-2 w-full text-start text-xs">
        <thead className="text-muted">
          <tr>
            {[t('stale.field'), t('stale.yours'), t('stale.theirs')].map((title) => (
              <th key={title} scope="col" className="py-1 pe-3 text-start font-medium">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {stale.differences.map(({ field, mine, theirs }) => (
            <tr key={field} className="border-line border-t align-top [overflow-wrap:anywhere]">
              <th scope="row" className="py-1 pe-3 text-start font-medium">
                {labels[field] ?? field}
              </th>
              <td className="py-1 pe-3">{mine === undefined ? t('stale.unchanged') : text(mine)}</td>
              <td className="py-1">{text(theirs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="mt-3 flex flex-wrap gap-2">
        <Button onClick={() => onReload(stale.theirs)}>{t('stale.takeTheirs')}</Button>
        <Button
          onClick={() => {
            edit.accept();
            onKeep();
          }}
        >
          {t('stale.keepMine')}
        </Button>
      </div>
    </section>
  );
}
