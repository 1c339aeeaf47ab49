import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

interface EmptyStateProps {
  icon?: LucideIcon;
  title: ReactNode;
  /** The next step. */
  children?: ReactNode;
}

/** What stands where there is nothing yet: what it would show, and the next step. */
export function EmptyState({ icon: Icon, title, children }: EmptyStateProps) {
  return (
    <div className="flex flex-col items-center gap-2 px-6 py-10 text-center">
      {Icon !== undefined && <Icon size={26} className="text-muted" aria-hidden />}
      <p className="font-medium">{title}</p>
      {children !== undefined && <div className="max-w-md text-muted">{children}</div>}
    </div>
  );
}
