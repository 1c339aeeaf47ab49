import { AlertTriangle, CheckCircle2, Circle, CircleDashed, XCircle } from 'lucide-react';
import type { ReactNode } from 'react';
import { classNames } from '../layout/class-names.ts';

export type Tone = 'ok' | 'warn' | 'bad' | 'neutral' | 'pending';

const looks = {
  ok: { icon: CheckCircle2, className: 'bg-ok-soft text-ok' },
  warn: { icon: AlertTriangle, className: 'bg-warn-soft text-warn' },
  bad: { icon: XCircle, className: 'bg-bad-soft text-bad' },
  neutral: { icon: Circle, className: 'bg-sunken text-muted' },
  pending: { icon: CircleDashed, className: 'bg-sunken text-muted' },
} as const;

/** A state in a word, with an icon: never by color alone. */
export function StatusBadge({
  tone,
  title,
  children,
}: {
  tone: Tone;
  title?: string | undefined;
  children: ReactNode;
}) {
  const { className, icon: Icon } = looks[tone];
  return (
    <span
      title={title}
      className={classNames(
        'inline-flex items-center gap-1 rounded-full px-2 py-0.5 font-medium text-xs whitespace-nowrap',
        className,
      )}
    >
      <Icon size={13} aria-hidden />
      {children}
    </span>
  );
}
