import type { ReactNode } from 'react';

/** The few figures that a page begins with, in a row. */
export function Figures({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg border border-line bg-line md:auto-cols-fr md:grid-flow-col md:grid-cols-none">
      {children}
    </dl>
  );
}

/** One figure with its name and what it is measured by. */
export function Figure({
  label,
  note,
  children,
}: {
  label: ReactNode;
  note?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="min-w-0 bg-panel p-4 max-md:odd:last:col-span-2">
      <dt className="text-muted text-xs">{label}</dt>
      <dd className="mt-1 truncate font-semibold text-xl tracking-tight">{children}</dd>
      {note !== undefined && <dd className="mt-0.5 min-h-4 text-muted text-xs">{note}</dd>}
    </div>
  );
}
