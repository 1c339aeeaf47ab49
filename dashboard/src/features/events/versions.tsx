import { useQuery, useQueryClient } from '@tanstack/react-query';
import { History } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { DiffView } from '../../components/text/diff-view.tsx';
import { useApi } from '../../lib/api/client.ts';
import { reaches, useRole } from '../../lib/api/session.ts';
import { lineDiff } from '../../lib/line-diff.ts';
import { type ConfigVersion, versionQuery, versionsQuery } from './queries.ts';

/** The configurations that were in force: who made them, what they were, and putting one into force again. */
export function Versions() {
  const { t } = useTranslation('events');
  const api = useApi();
  const role = useRole();
  const versions = useQuery(versionsQuery(api));
  const [shown, setShown] = useState<ConfigVersion | null>(null);
  const [restoring, setRestoring] = useState<ConfigVersion | null>(null);
  const needsRole = reaches(role, 'admin') ? null : t('common:needsRole', { role: t('common:role.admin') });
  return (
    <Panel flush title={t('versions.title')}>
      <QueryState query={versions} lines={5}>
        {({ resources }) => {
          const current = resources.find(({ in_force }) => in_force) ?? null;
          if (resources.length === 0)
            return (
              <EmptyState icon={History} title={t('versions.none')}>
                {t('versions.noneNext')}
              </EmptyState>
            );
          return (
            <>
              <ul>
                {resources.map((version) => (
                  <li
                    key={version.version}
                    className="flex flex-wrap items-center gap-x-4 gap-y-1 border-line border-b px-4 py-2 last:border-b-0"
                  >
                    <span className="font-medium">{t('versions.nth', { version: version.version })}</span>
                    {version.in_force && <StatusBadge tone="ok">{t('versions.inForce')}</StatusBadge>}
                    <span className="text-muted">
                      {t(`versions.via.${version.via}`, { author: version.author })}{' '}
                      <RelativeTime at={version.created_at} />
                    </span>
                    <span className="ms-auto flex gap-1">
                      <Button variant="quiet" onClick={() => setShown(version)}>
                        {t('versions.show')}
                      </Button>
                      {!version.in_force && (
                        <Button onClick={() => setRestoring(version)} disabledReason={needsRole}>
                          {t('versions.restore')}
                        </Button>
                      )}
                    </span>
                  </li>
                ))}
              </ul>
              {shown !== null && <VersionDialog version={shown} onClose={() => setShown(null)} />}
              {restoring !== null && current !== null && (
                <RestoreDialog current={current} version={restoring} onClose={() => setRestoring(null)} />
              )}
            </>
          );
        }}
      </QueryState>
    </Panel>
  );
}

function VersionDialog({ version, onClose }: { version: ConfigVersion; onClose(): void }) {
  const { t } = useTranslation('events');
  const text = useQuery(versionQuery(useApi(), version.version));
  return (
    <Dialog open wide onClose={onClose} title={t('versions.nth', { version: version.version })}>
      <div className="pb-3">
        <QueryState query={text} lines={8}>
          {(data) => <CodeBlock code={data.text} />}
        </QueryState>
      </div>
    </Dialog>
  );
}

interface RestoreDialogProps {
  /** The one in force, which must still be so. */
  current: ConfigVersion;
  version: ConfigVersion;
  onClose(): void;
}

function RestoreDialog({ current, version, onClose }: RestoreDialogProps) {
  const { t } = useTranslation('events');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const now = useQuery(versionQuery(api, current.version));
  const then = useQuery(versionQuery(api, version.version));
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('versions.restoreTitle', { version: version.version })}
      confirm={t('versions.restore')}
      onConfirm={async () => {
        const applied = await api.post<{ version: number }>(
          `events/config/versions/${version.version}:restore`,
          {},
          { headers: { 'if-match': `"${current.version}"` } },
        );
        notify(t('versions.restored', { version: applied.version }));
        await queries.invalidateQueries({ queryKey: ['events'] });
      }}
    >
      <p className="mb-3">{t('versions.restoreWhat', { version: current.version })}</p>
      <QueryState query={now} lines={5}>
        {(before) => (
          <QueryState query={then} lines={5}>
            {(after) => {
              const diff = lineDiff(before.text, after.text);
              return diff === '' ? <p>{t('versions.same')}</p> : <DiffView diff={diff} />;
            }}
          </QueryState>
        )}
      </QueryState>
    </ConfirmDialog>
  );
}
