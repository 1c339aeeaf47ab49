import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, buttonClass } from '../../components/controls/button.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { useApi } from '../../lib/api/client.ts';
import { type Connection, taskQuery } from './queries.ts';

interface StartedLogin {
  task_id: string;
  result: {
    authorization_url?: string;
    user_code?: string;
    verification_url?: string;
    verification_url_complete?: string | null;
  };
}

/** Logs in at a provider, in this browser or with a code on another device, and says how it went. */
export function LoginDialog({ connection, onClose }: { connection: Connection; onClose(): void }) {
  const { t } = useTranslation('connections');
  const api = useApi();
  const begin = useMutation({
    mutationFn: (method: 'browser' | 'device') =>
      api.post<StartedLogin>(`connections/${encodeURIComponent(connection.id)}`, { action: 'login', method }),
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('login.title', { name: connection.name })}
      description={t('login.about')}
      footer={<Button onClick={onClose}>{t('common:close')}</Button>}
    >
      <div className="flex flex-col gap-3 pb-3">
        {begin.data === undefined ? (
          <div className="flex flex-wrap gap-2">
            <Button variant="primary" busy={begin.isPending} onClick={() => begin.mutate('browser')}>
              {t('login.browser')}
            </Button>
            <Button busy={begin.isPending} onClick={() => begin.mutate('device')}>
              {t('login.device')}
            </Button>
          </div>
        ) : (
          <LoginProgress begun={begin.data} />
        )}
        {begin.isError && <ErrorNotice error={begin.error} />}
      </div>
    </Dialog>
  );
}

function LoginProgress({ begun }: { begun: StartedLogin }) {
  const { t } = useTranslation('connections');
  const api = useApi();
  const queries = useQueryClient();
  const task = useQuery(taskQuery(api, begun.task_id));
  const { authorization_url, user_code, verification_url, verification_url_complete } = begun.result;
  const address = authorization_url ?? verification_url_complete ?? verification_url ?? '';
  const finished = task.data?.state === 'Finished';
  useEffect(() => {
    if (finished) void queries.invalidateQueries({ queryKey: ['connections'] });
  }, [finished, queries]);
  return (
    <>
      {user_code !== undefined && <CodeBlock code={user_code} />}
      {isWebAddress(address) ? (
        <a href={address} target="_blank" rel="noreferrer" className={buttonClass('primary')}>
          {t('login.open')}
        </a>
      ) : (
        <CodeBlock code={address} />
      )}
      <div role="status" className="flex flex-wrap items-center gap-2">
        {!finished && <StatusBadge tone="pending">{t('login.waiting')}</StatusBadge>}
        {finished && task.data !== undefined && (
          <>
            <StatusBadge tone={task.data.status === 'Ok' ? 'ok' : 'bad'}>
              {t(task.data.status === 'Ok' ? 'login.done' : 'login.failed')}
            </StatusBadge>
            {task.data.status !== 'Ok' && (
              <span className="[overflow-wrap:anywhere]">{task.data.message}</span>
            )}
          </>
        )}
      </div>
      {task.isError && <ErrorNotice error={task.error} />}
    </>
  );
}

/** An issuer says where to log in; a script must never be among it. */
function isWebAddress(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}
