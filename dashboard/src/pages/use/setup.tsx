import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { TextField } from '../../components/controls/field.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { ConnectionForm } from '../../features/connections/connection-form.tsx';
import { LoginDialog } from '../../features/connections/login-dialog.tsx';
import { type Connection, connectionsQuery } from '../../features/connections/queries.ts';
import type { NewKey } from '../../features/keys/key-form.tsx';
import { keysQuery } from '../../features/keys/queries.ts';
import { Commands } from '../../features/setup/commands.tsx';
import { FirstRequest, useFirstRequest } from '../../features/setup/first-request.tsx';
import { FoundProviders } from '../../features/setup/found-providers.tsx';
import { cliQuery } from '../../features/setup/queries.ts';
import { Step } from '../../features/setup/step.tsx';
import { toolsQuery } from '../../features/tools/queries.ts';
import { useApi } from '../../lib/api/client.ts';
import { modelIdsQuery } from '../../lib/api/model-ids.ts';
import { reaches, useRole } from '../../lib/api/session.ts';

const DEMO_MODEL = 'demo/echo';
const KEY_NAME = 'first-key';

/** From a new gateway to the first answered request: a provider or the demo, a key, a command to copy. */
export function SetupPage() {
  const { t } = useTranslation('setup');
  const api = useApi();
  const queries = useQueryClient();
  const needsRole = reaches(useRole(), 'admin')
    ? null
    : t('common:needsRole', { role: t('common:role.admin') });
  const since = useMemo(() => new Date(Date.now() - 1000).toISOString(), []);
  const connections = useQuery(connectionsQuery(api)).data?.resources ?? [];
  const [adding, setAdding] = useState(false);
  const [loggingIn, setLoggingIn] = useState<Connection | null>(null);
  const [demo, setDemo] = useState(false);
  const [model, setModel] = useState<string | null>(null);
  const requests = useFirstRequest(since);
  const create = useMutation({
    mutationFn: async (): Promise<NewKey | undefined> => {
      // What the next step shows, so that it stands there whole. The page itself does without.
      const ready = Promise.all([
        queries.prefetchQuery(modelIdsQuery(api)),
        queries.prefetchQuery(toolsQuery(api)),
        queries.prefetchQuery(cliQuery(api)),
      ]);
      const keys = await queries.fetchQuery(keysQuery(api));
      const names = new Set(keys.resources.map(({ name }) => name));
      let name = KEY_NAME;
      for (let nth = 2; names.has(name); nth += 1) name = `${KEY_NAME}-${nth}`;
      const { results } = await api.post<{ results: NewKey[] }>('keys', { name });
      await Promise.all([ready, queries.invalidateQueries({ queryKey: ['keys'] })]);
      return results[0];
    },
  });
  const made = create.data ?? null;
  const enabled = made !== null;
  const models = useQuery({ ...modelIdsQuery(api), enabled }).data?.resources ?? [];
  const tools = useQuery({ ...toolsQuery(api), enabled }).data?.resources ?? [];
  const cli = useQuery({ ...cliQuery(api), enabled }).data ?? null;
  const [connection] = connections;
  const suggested =
    connection === undefined
      ? DEMO_MODEL
      : (models.find(({ id }) => id.startsWith(`${connection.name}/`))?.id ?? 'auto');
  const chosen = demo || connections.length > 0;
  return (
    <>
      <PageHeader title={t('title')} subtitle={t('subtitle')} />
      <ol className="flex max-w-3xl flex-col gap-4">
        <Step nth={1} title={t('provider.title')} done={chosen} open>
          {connections.length > 0 ? (
            <p>{t('provider.connected', { names: connections.map(({ name }) => name).join(', ') })}</p>
          ) : (
            <p className="text-muted">{t(demo ? 'provider.demoChosen' : 'provider.what')}</p>
          )}
          {needsRole === null && <FoundProviders />}
          <div className="mt-3 flex flex-wrap gap-2">
            <Button icon={Plus} onClick={() => setAdding(true)} disabledReason={needsRole}>
              {t('provider.connect')}
            </Button>
            {!chosen && <Button onClick={() => setDemo(true)}>{t('provider.demo')}</Button>}
          </div>
        </Step>
        <Step nth={2} title={t('key.title')} done={made !== null} open={chosen}>
          {made === null ? (
            <>
              <p className="mb-3 text-muted">{t('key.what')}</p>
              <Button
                variant="primary"
                busy={create.isPending}
                disabledReason={needsRole}
                onClick={() => create.mutate()}
              >
                {t('key.create')}
              </Button>
              {create.isError && (
                <div className="mt-3">
                  <ErrorNotice error={create.error} />
                </div>
              )}
            </>
          ) : (
            <>
              <p className="mb-2 text-muted">{t('key.once')}</p>
              <CodeBlock code={made.key} />
            </>
          )}
        </Step>
        <Step
          nth={3}
          title={t('command.title')}
          done={requests.answered !== null}
          open={made !== null || requests.answered !== null}
        >
          {made !== null && (
            <>
              <div className="mb-3 max-w-sm">
                <TextField
                  label={t('command.model')}
                  list="setup-models"
                  autoComplete="off"
                  spellCheck={false}
                  value={model ?? suggested}
                  onChange={(event) => setModel(event.target.value)}
                />
                <datalist id="setup-models">
                  {models.map(({ id }) => (
                    <option key={id} value={id} />
                  ))}
                </datalist>
              </div>
              <Commands
                cli={cli}
                apiKey={made.key}
                model={(model ?? suggested).trim()}
                tools={tools.filter(({ installed, settings_href }) => installed && settings_href !== null)}
              />
            </>
          )}
        </Step>
        <Step
          nth={4}
          title={t('first.title')}
          done={requests.answered !== null}
          open={made !== null || requests.answered !== null}
        >
          <FirstRequest {...requests} />
        </Step>
      </ol>
      {adding && (
        <ConnectionForm
          onClose={() => setAdding(false)}
          onLogin={(connection) => {
            setAdding(false);
            setLoggingIn(connection);
          }}
        />
      )}
      {loggingIn !== null && <LoginDialog connection={loggingIn} onClose={() => setLoggingIn(null)} />}
    </>
  );
}
