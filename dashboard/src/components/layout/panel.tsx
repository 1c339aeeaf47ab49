import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';

interface PanelProps {
  title?: ReactNode;
  /** Beside the title. */
  actions?: ReactNode;
  /** Without inner space, for tables. */
  flush?: boolean;
  className?: string | undefined;
  children: ReactNode;
}

/** A part of a page with a title. */
export function Panel({ title, actions, flush = false, className, children }: PanelProps) {
  return (
    <section className={classNames('min-w-0 rounded-lg border border-line bg-panel', className)}>
      {(title !== undefined || actions !== undefined) && (
        <header className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-line border-b px-4 py-2">
          <h2 className="font-semibold text-sm">{title}</h2>
          {actions}
        </header>
      )}
      <div className={flush ? '' : 'p-4'}>{children}</div>
    </section>
  );
}
