import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { copyText } from '../../lib/clipboard.ts';
import { Button, IconButton } from './button.tsx';

const SHOWN_MS = 1600;

/** Copies text, and says so. With `label` it is a button with that text, else an icon. */
export function CopyButton({ text, label }: { text: string; label?: string | undefined }) {
  const { t } = useTranslation();
  const [outcome, setOutcome] = useState<'copied' | 'failed' | null>(null);
  useEffect(() => {
    if (outcome === null) return;
    const timer = setTimeout(() => setOutcome(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => setOutcome((await copyText(text)) ? 'copied' : 'failed');
  const said = outcome === null ? null : t(outcome === 'copied' ? 'copied' : 'copyFailed');
  return (
    <>
      {label === undefined ? (
        <IconButton icon={outcome === 'copied' ? Check : Copy} label={said ?? t('copy')} onClick={copy} />
      ) : (
        <Button icon={outcome === 'copied' ? Check : Copy} onClick={copy}>
          {said ?? label}
        </Button>
      )}
      <span className="sr-only" role="status">
        {said}
      </span>
    </>
  );
}
