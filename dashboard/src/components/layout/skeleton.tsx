import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';

/** Shorter waits show nothing, which is calmer than a flicker. */
const DELAY_MS = 150;

/** Gray lines in the shape of what is loading, after a moment. `height` in pixels keeps the page from moving. */
export function Skeleton({ lines = 3, height }: { lines?: number; height?: number }) {
  const { t } = useTranslation();
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), DELAY_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div style={{ minHeight: height }} className="flex flex-col gap-3 p-4" aria-busy="true">
      <span className="sr-only">{t('loading')}</span>
      {shown &&
        Array.from({ length: lines }, (_, index) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: all lines are alike.
            key={index}
            className="h-4 animate-appear rounded bg-sunken"
            style={{ width: `${92 - ((index * 17) % 40)}%` }}
          />
        ))}
    </div>
  );
}
