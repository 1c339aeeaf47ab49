import type { ReactNode } from 'react';

interface PageHeaderProps {
  title: ReactNode;
  subtitle?: ReactNode;
  /** At most one primary action, and what belongs to it. */
  actions?: ReactNode;
}

/** The head of a page: its only `h1`. */
export function PageHeader({ title, subtitle, actions }: PageHeaderProps) {
  return (
    <header className="mb-4 flex flex-wrap items-start justify-between gap-x-6 gap-y-2">
      <div className="min-w-0">
        <h1 className="truncate font-semibold text-xl tracking-tight">{title}</h1>
        {subtitle !== undefined && <p className="mt-0.5 max-w-prose text-muted">{subtitle}</p>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}
