import { useTranslation } from 'react-i18next';
import { classNames } from '../../components/layout/class-names.ts';
import { useLiveState } from '../../lib/live.ts';

const looks = {
  connecting: 'bg-muted',
  open: 'bg-ok',
  lost: 'bg-bad',
  paused: 'bg-muted',
} as const;

/** Whether what happens in the gateway arrives as it happens. */
export function LiveBadge() {
  const { t } = useTranslation();
  const state = useLiveState();
  const text = t(`live.${state}`);
  return (
    <span role="status" title={text} className="inline-flex items-center gap-1.5 px-1 text-muted text-xs">
      <span className={classNames('size-2 rounded-full', looks[state])} aria-hidden />
      <span className={state === 'lost' ? '' : 'sr-only sm:not-sr-only'}>{text}</span>
    </span>
  );
}
