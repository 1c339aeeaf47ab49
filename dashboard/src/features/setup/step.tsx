import { Check } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { classNames } from '../../components/layout/class-names.ts';

interface StepProps {
  nth: number;
  title: string;
  done: boolean;
  /** Whether it can be done now: what comes before it is done. */
  open: boolean;
  children: ReactNode;
}

/** One of the steps of the first run, in their order. */
export function Step({ nth, title, done, open, children }: StepProps) {
  const { t } = useTranslation('setup');
  return (
    <li
      className={classNames('rounded-lg border border-line bg-panel p-4', !open && 'text-muted')}
      aria-current={open && !done ? 'step' : undefined}
    >
      <h2 className="flex items-center gap-2.5 font-semibold">
        <span
          className={classNames(
            'inline-flex size-6 shrink-0 items-center justify-center rounded-full text-xs',
            done ? 'bg-ok-soft text-ok' : 'bg-sunken text-muted',
          )}
        >
          {done ? <Check size={14} aria-label={t('done')} /> : nth}
        </span>
        {title}
      </h2>
      {open && <div className="mt-3 sm:ps-8">{children}</div>}
    </li>
  );
}
