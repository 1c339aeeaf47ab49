import type { LucideIcon } from 'lucide-react';
import type { ComponentProps } from 'react';
import { classNames } from '../layout/class-names.ts';

type Variant = 'primary' | 'secondary' | 'quiet' | 'danger';

const looks: Readonly<Record<Variant, string>> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent',
  secondary: 'bg-panel text-text border-line hover:bg-sunken',
  quiet: 'bg-transparent text-text border-transparent hover:bg-sunken',
  danger: 'bg-panel text-bad border-line hover:bg-bad-soft',
};

/** The classes of a button, also for links that look like one. */
export function buttonClass(variant: Variant = 'secondary', extra?: string): string {
  return classNames(
    'inline-flex min-h-8 items-center justify-center gap-1.5 rounded-md border px-3 py-1 text-sm font-medium',
    'whitespace-nowrap disabled:opacity-55',
    looks[variant],
    extra,
  );
}

interface ButtonProps extends ComponentProps<'button'> {
  variant?: Variant;
  icon?: LucideIcon;
  /** Why it cannot be pressed; it is disabled then, and says so. */
  disabledReason?: string | null | undefined;
  /** Something is under way that it began. */
  busy?: boolean;
}

/** A button. One that is disabled says why. */
export function Button({
  variant = 'secondary',
  icon: Icon,
  disabledReason = null,
  busy = false,
  className,
  children,
  disabled,
  ...props
}: ButtonProps) {
  return (
    <button
      type="button"
      {...props}
      className={buttonClass(variant, className)}
      disabled={disabled || busy || disabledReason !== null}
      aria-busy={busy || undefined}
      title={disabledReason ?? props.title}
    >
      {Icon !== undefined && <Icon size={16} aria-hidden />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ComponentProps<'button'>, 'children'> {
  icon: LucideIcon;
  /** What it does, for readers of the screen and on hover. */
  label: string;
}

/** A button that shows an icon alone. */
export function IconButton({ icon: Icon, label, className, ...props }: IconButtonProps) {
  return (
    <button
      type="button"
      {...props}
      aria-label={label}
      title={label}
      className={classNames(
        'inline-flex size-8 shrink-0 items-center justify-center rounded-md text-muted hover:bg-sunken hover:text-text disabled:opacity-50',
        className,
      )}
    >
      <Icon size={17} aria-hidden />
    </button>
  );
}
