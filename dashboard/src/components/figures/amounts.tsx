import { useTranslation } from 'react-i18next';
import {
  bytes,
  compact,
  duration,
  exact,
  exactMoney,
  money,
  moneyParts,
  percent,
} from '../../lib/format/numbers.ts';
import { exactTime, relativeTime } from '../../lib/format/times.ts';
import { useNow } from '../../lib/now.ts';

interface AmountProps {
  /** Null: not known, which is shown as a dash with its reason. */
  value: number | null;
  /** Why it is not known. */
  unknown?: string | undefined;
}

function useLocale(): string {
  return useTranslation().i18n.language;
}

/** US dollars; all digits on hover. */
export function Money({ value, unknown }: AmountProps) {
  const locale = useLocale();
  const { t } = useTranslation();
  const title = value === null ? (unknown ?? t('unknown.price')) : exactMoney(value, locale);
  return (
    <span className="nums" title={title}>
      {money(value, locale)}
    </span>
  );
}

/** US dollars with all digits, so many in each row that they stand below each other; what is beyond cents is muted. */
export function ExactMoney({ value, unknown, decimals }: AmountProps & { decimals: number }) {
  const locale = useLocale();
  const { t } = useTranslation();
  if (value === null)
    return (
      <span className="text-muted" title={unknown ?? t('unknown.price')}>
        –
      </span>
    );
  const [main, rest] = moneyParts(value, locale, decimals);
  return (
    <span className="nums">
      {main}
      <span className="text-muted">{rest}</span>
    </span>
  );
}

/** A count in short; all digits on hover. */
export function Count({ value, unknown }: AmountProps) {
  const locale = useLocale();
  const { t } = useTranslation();
  return (
    <span className="nums" title={value === null ? (unknown ?? t('unknown.value')) : exact(value, locale)}>
      {compact(value, locale)}
    </span>
  );
}

/** Milliseconds. */
export function Duration({ value, unknown }: AmountProps) {
  const locale = useLocale();
  const { t } = useTranslation();
  return (
    <span
      className="nums"
      title={value === null ? (unknown ?? t('unknown.value')) : `${exact(value, locale)} ms`}
    >
      {duration(value, locale)}
    </span>
  );
}

/** Bytes; all digits on hover. */
export function Bytes({ value, unknown }: AmountProps) {
  const locale = useLocale();
  const { t } = useTranslation();
  const title = value === null ? (unknown ?? t('unknown.value')) : `${exact(value, locale)} B`;
  return (
    <span className="nums" title={title}>
      {bytes(value, locale)}
    </span>
  );
}

/** A share from 0 to 1. */
export function Percent({ value, unknown }: AmountProps) {
  const locale = useLocale();
  const { t } = useTranslation();
  return (
    <span className="nums" title={value === null ? (unknown ?? t('unknown.value')) : undefined}>
      {percent(value, locale)}
    </span>
  );
}

/** How long ago, or in how long; the exact time on hover. Null: `never`. */
export function RelativeTime({ at, never }: { at: string | number | null; never?: string }) {
  const locale = useLocale();
  const { t } = useTranslation();
  const now = useNow();
  if (at === null) return <span className="text-muted">{never ?? t('never')}</span>;
  const time = typeof at === 'number' ? at : Date.parse(at);
  return (
    <time
      className="whitespace-nowrap"
      dateTime={new Date(time).toISOString()}
      title={exactTime(time, locale)}
    >
      {relativeTime(time, now, locale)}
    </time>
  );
}
