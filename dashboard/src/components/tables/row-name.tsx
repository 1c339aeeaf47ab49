import type { ReactNode } from 'react';
import { classNames } from '../layout/class-names.ts';

interface RowNameProps {
  children: ReactNode;
  title?: string;
  /** How wide it may be on narrow screens, as a class. */
  className: string;
}

/** What a row is called, in one line; in two on narrow screens, where names that begin alike would look the same. */
export function RowName({ children, className, title }: RowNameProps) {
  return (
    <span
      title={title}
      className={classNames(
        'block truncate max-sm:line-clamp-2 max-sm:whitespace-normal max-sm:leading-4 max-sm:[overflow-wrap:anywhere]',
        className,
      )}
    >
      {children}
    </span>
  );
}
