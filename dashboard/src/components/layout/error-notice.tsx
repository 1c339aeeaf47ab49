import { AlertTriangle } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../../lib/api/error.ts';
import { Button } from '../controls/button.tsx';
import { CopyButton } from '../controls/copy-button.tsx';

/** What went wrong, why, what to do about it, the request id, and another try. */
export function ErrorNotice({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const { t } = useTranslation();
  const known = error instanceof ApiError ? error : null;
  const advice = known === null ? null : adviceFor(known);
  return (
    <div role="alert" className="flex items-start gap-3 rounded-md bg-bad-soft p-3 text-text">
      <AlertTriangle size={18} className="mt-0.5 shrink-0 text-bad" aria-hidden />
      <div className="min-w-0 flex-1">
        <p className="font-medium [overflow-wrap:anywhere]">
          {error instanceof Error ? error.message : String(error)}
        </p>
        {advice !== null && <p className="mt-0.5 text-muted">{t(advice)}</p>}
        {known !== null && known.requestId !== null && (
          <p className="mt-1 flex items-center gap-1 text-muted text-xs">
            {t('error.requestId')} <code>{known.requestId}</code> <CopyButton text={known.requestId} />
          </p>
        )}
      </div>
      {onRetry !== undefined && <Button onClick={onRetry}>{t('retry')}</Button>}
    </div>
  );
}

/** The key of what to do about a failure; null where its own text says it. */
function adviceFor({ code, status }: ApiError) {
  if (status === 0) return 'error.unreachable' as const;
  if (status === 403 && code === 'forbidden') return 'error.forbidden' as const;
  if (status === 429) return 'error.tooMany' as const;
  if (status >= 500) return 'error.ownFault' as const;
  return null;
}
