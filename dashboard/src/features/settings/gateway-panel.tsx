import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Power, RefreshCw, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, buttonClass } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import { gatewayQuery } from './queries.ts';

const path = 'processes/this';

interface UpdateCheck {
  message: string;
  result: { newer: boolean; next: string[] };
}

/** The process: its version, whether there is a newer one, stopping and restarting it. */
export function GatewayPanel() {
  const { t } = useTranslation('settings');
  const api = useApi();
  const gateway = useQuery(gatewayQuery(api));
  const [asking, setAsking] = useState<'restart' | 'stop' | null>(null);
  const check = useMutation({
    mutationFn: () => api.post<UpdateCheck>(path, { action: 'check_update' }),
  });
  return (
    <Panel title={t('gateway.title')}>
      <QueryState query={gateway} lines={2}>
        {(row) => (
          <div className="flex flex-col gap-3">
            <p>
              {t('gateway.version', { version: row.version, node: row.node, platform: row.platform })}{' '}
              <span className="text-muted">
                {t('gateway.since')} <RelativeTime at={row.started_at} />
              </span>
            </p>
            <div className="flex flex-wrap gap-2">
              {allows(row, 'restart') && (
                <Link to="/setup" className={buttonClass('secondary')}>
                  {t('gateway.setup')}
                </Link>
              )}
              {allows(row, 'check_update') && (
                <Button icon={RefreshCw} busy={check.isPending} onClick={() => check.mutate()}>
                  {t('gateway.check')}
                </Button>
              )}
              {allows(row, 'restart') && (
                <Button icon={RotateCw} onClick={() => setAsking('restart')}>
                  {t('gateway.restart')}
                </Button>
              )}
              {allows(row, 'stop') && (
                <Button icon={Power} variant="danger" onClick={() => setAsking('stop')}>
                  {t('gateway.stop')}
                </Button>
              )}
            </div>
            {check.isError && <ErrorNotice error={check.error} />}
            {check.data !== undefined && (
              <div role="status">
                <p>{check.data.message}</p>
                {check.data.result.next.length > 0 && (
                  <div className="mt-2">
                    <CodeBlock code={check.data.result.next.join('\n')} />
                  </div>
                )}
              </div>
            )}
            {asking !== null && (
              <LeaveDialog action={asking} startedAt={row.started_at} onClose={() => setAsking(null)} />
            )}
          </div>
        )}
      </QueryState>
    </Panel>
  );
}

interface LeaveDialogProps {
  action: 'restart' | 'stop';
  /** When the process began that is asked to end. */
  startedAt: string;
  onClose(): void;
}

const LOOK_EVERY_MS = 500;
const PATIENCE_MS = 90_000;

function LeaveDialog({ action, startedAt, onClose }: LeaveDialogProps) {
  const { t } = useTranslation('settings');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  /** Resolves when the gateway answers that was started in the place of the former. */
  const startedAnew = async () => {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      const row = await api.get<{ started_at: string }>(path).catch(() => null);
      if (row !== null && row.started_at !== startedAt) return;
    }
    throw new Error(t('gateway.notBack'));
  };
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t(`gateway.${action}Title`)}
      confirm={t(`gateway.${action}`)}
      onConfirm={async () => {
        const { message } = await api.post<{ message: string }>(path, { action });
        if (action === 'restart') {
          await startedAnew();
          notify(t('gateway.back'));
          await queries.invalidateQueries();
        } else notify(message);
      }}
    >
      {t(`gateway.${action}What`)}
    </ConfirmDialog>
  );
}
