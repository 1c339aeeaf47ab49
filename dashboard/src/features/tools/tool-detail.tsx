import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, buttonClass } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { ByHand } from '../../components/text/by-hand.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import { reaches, useRole } from '../../lib/api/session.ts';
import { gatewayUrl } from '../../lib/base-path.ts';
import { useCatalogueTexts } from '../../lib/i18n/catalogue-texts.ts';
import { CustomBuilder } from './custom-builder.tsx';
import { BUILDER, settingsQuery, statusesQuery, type Tool, toolsQuery } from './queries.ts';
import { type Setup, SetupFields } from './setup-fields.tsx';
import { ToolProof } from './tool-proof.tsx';
import { ToolSetup } from './tool-setup.tsx';
import { ToolBadges } from './tool-status.tsx';

/** One tool: how it is set up, and how to point it at this gateway. */
export function ToolDetail({ category, id }: { category: Tool['category']; id: string }) {
  const { t } = useTranslation('cliCommon');
  const tools = useQuery(toolsQuery(useApi()));
  const inLanguage = useCatalogueTexts();
  const back = category === 'code' ? '/cli-code' : '/cli-agents';
  return (
    <QueryState query={tools} lines={8} height={420}>
      {({ resources }) => {
        const tool = resources.find((one) => one.id === id && one.category === category);
        if (tool === undefined || tool.baseUrlSupport === 'none')
          return (
            <EmptyState title={t('detail.noSuchTool')}>
              <Link to={back} className={buttonClass('secondary', 'mt-2')}>
                {t('detail.back')}
              </Link>
            </EmptyState>
          );
        const shown = inLanguage(tool);
        return tool.id === BUILDER ? <Builder tool={shown} /> : <Detail key={id} tool={shown} back={back} />;
      }}
    </QueryState>
  );
}

function Builder({ tool }: { tool: Tool }) {
  const { t } = useTranslation('cliCommon');
  const role = useRole();
  return (
    <>
      <PageHeader
        title={tool.name}
        subtitle={tool.description}
        actions={
          <Link to="/cli-code" className={buttonClass('quiet')}>
            {t('detail.back')}
          </Link>
        }
      />
      <Panel title={t('builder.title')}>
        {reaches(role, 'admin') ? (
          <CustomBuilder />
        ) : (
          <p className="text-muted">{t('common:needsRole', { role: t('common:role.admin') })}</p>
        )}
      </Panel>
    </>
  );
}

function Detail({ tool, back }: { tool: Tool; back: '/cli-code' | '/cli-agents' }) {
  const { t } = useTranslation('cliCommon');
  const api = useApi();
  const role = useRole();
  const settings = useQuery(settingsQuery(api, tool));
  const queries = useQueryClient();
  const navigate = useNavigate();
  const detection = useQuery(statusesQuery(api)).data?.[tool.id]?.detection;
  const [removing, setRemoving] = useState(false);
  const [setup, setSetup] = useState<Setup>({ address: gatewayUrl(), model: tool.model ?? '', key: '' });
  return (
    <>
      <PageHeader
        title={tool.name}
        subtitle={tool.description}
        actions={
          <>
            <Link to={back} className={buttonClass('quiet')}>
              {t('detail.back')}
            </Link>
            {allows(tool, 'delete') && (
              <Button variant="danger" onClick={() => setRemoving(true)}>
                {t('builder.remove')}
              </Button>
            )}
            <a href={tool.docsUrl} target="_blank" rel="noreferrer" className={buttonClass()}>
              {t('detail.docs')} <ExternalLink size={14} aria-hidden />
            </a>
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <Panel title={t('detail.detectionStatus')}>
          <ToolBadges tool={tool} />
          <dl className="mt-3 grid gap-x-6 gap-y-2 sm:grid-cols-2">
            <Fact label={t('detail.version')}>{detection?.version ?? '–'}</Fact>
            <Fact label={t('detail.program')}>{detection?.commandPath ?? detection?.reason ?? '–'}</Fact>
            <Fact label={t('detail.pointsTo')}>{tool.endpoint ?? '–'}</Fact>
            <Fact label={t('detail.modelLabel')}>{tool.model ?? '–'}</Fact>
            <Fact label={t('detail.files')}>{tool.paths.join(', ') || '–'}</Fact>
            {settings.data !== undefined && (
              <Fact label={t('detail.configuredAt')}>
                <RelativeTime at={settings.data.last_configured_at} />
              </Fact>
            )}
          </dl>
          {tool.drifted.length > 0 && (
            <p className="mt-3 text-warn">{t('detail.drifted', { entries: tool.drifted.join(', ') })}</p>
          )}
          {tool.limitation !== undefined && <p className="mt-3 text-warn">{tool.limitation}</p>}
        </Panel>
        {tool.settings_href !== null && (
          <Panel title={t('detail.configStatus')}>
            {reaches(role, 'admin') ? (
              <QueryState query={settings} lines={4}>
                {(data) => <ToolSetup tool={tool} settings={data} setup={setup} onSetup={setSetup} />}
              </QueryState>
            ) : (
              <p className="text-muted">{t('common:needsRole', { role: t('common:role.admin') })}</p>
            )}
          </Panel>
        )}
        <ToolProof tool={tool} apiKey={setup.key} model={setup.model} />
        <Panel title={t('detail.manualConfig')}>
          {tool.settings_href === null && (
            <div className="mb-4 grid gap-4 sm:grid-cols-2">
              <SetupFields
                toolId={tool.id}
                setup={setup}
                onSetup={setSetup}
                modelRequired={false}
                keyHint={t('byHand.keyHint')}
              />
            </div>
          )}
          <p className="mb-2 text-muted">{t(`byHand.${tool.base_url_has_version ? 'v1' : 'root'}`)}</p>
          <CodeBlock code={tool.base_url_has_version ? `${setup.address}/v1` : setup.address} />
          <div className="mt-4">
            <ByHand
              tool={tool}
              values={{ root: setup.address, apiKey: setup.key || null, model: setup.model || null }}
            />
          </div>
          <p className="mt-4 mb-2 text-muted">{t('byHand.command')}</p>
          <CodeBlock code={`gateway tools configure ${tool.id}`} />
        </Panel>
        <ConfirmDialog
          open={removing}
          onClose={() => setRemoving(false)}
          title={t('builder.removeTitle', { name: tool.name })}
          confirm={t('builder.remove')}
          onConfirm={async () => {
            await api.remove(`tools/${encodeURIComponent(tool.id)}`);
            await navigate({ to: back });
            await queries.invalidateQueries({ queryKey: ['tools'] });
          }}
        >
          {t('builder.removeWhat')}
        </ConfirmDialog>
      </div>
    </>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs">{label}</dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
