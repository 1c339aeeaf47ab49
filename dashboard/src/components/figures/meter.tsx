import { useTranslation } from 'react-i18next';
import { percent } from '../../lib/format/numbers.ts';
import { classNames } from '../layout/class-names.ts';

type MeterTone = 'ok' | 'warn' | 'bad';

const colors: Readonly<Record<MeterTone, string>> = { ok: 'bg-accent', warn: 'bg-warn', bad: 'bg-bad' };

interface MeterProps {
  /** From 0 to 1; more is drawn as full. */
  share: number;
  tone: MeterTone;
  /** What it measures, for readers of the screen. */
  label: string;
}

/** A bar that is full to some part. The figure belongs beside it. */
export function Meter({ label, share, tone }: MeterProps) {
  const { i18n } = useTranslation();
  const part = Math.min(1, Math.max(0, share));
  return (
    // biome-ignore lint/a11y/useSemanticElements: the browser's own cannot be styled alike everywhere.
    <span
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(part * 100)}
      aria-valuetext={percent(share, i18n.language)}
      title={percent(share, i18n.language)}
      className="block h-1.5 w-full overflow-hidden rounded-full bg-sunken"
    >
      <span className={classNames('block h-full', colors[tone])} style={{ width: `${part * 100}%` }} />
    </span>
  );
}
