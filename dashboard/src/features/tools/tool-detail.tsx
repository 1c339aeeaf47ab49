import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { RelativeTime } from '../../components/amounts.tsx';
import { buttonClass } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { QueryState } from '../../components/query-state.tsx';
import { useApi } from '../../lib/api/client.ts';
import { reaches, useRole } from '../../lib/api/session.ts';
import { gatewayUrl } from '../../lib/base-path.ts';
import { settingsQuery, statusesQuery, type Tool, toolsQuery } from './queries.ts';
import { ToolSetup } from './tool-setup.tsx';
import { ToolBadges } from './tool-status.tsx';

/** One tool: how it is set up, and how to point it at this gateway. */
export function ToolDetail({ category, id }: { category: Tool['category']; id: string }) {
  const { t } = useTranslation('cliCommon');
  const tools = useQuery(toolsQuery(useApi()));
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
        return <Detail tool={tool} back={back} />;
      }}
    </QueryState>
  );
}

function Detail({ tool, back }: { tool: Tool; back: '/cli-code' | '/cli-agents' }) {
  const { t } = useTranslation('cliCommon');
  const api = useApi();
  const role = useRole();
  const settings = useQuery(settingsQuery(api, tool));
  const detection = useQuery(statusesQuery(api)).data?.[tool.id]?.detection;
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
          {tool.limitation !== undefined && <p className="mt-3 text-warn">{tool.limitation}</p>}
        </Panel>
        {tool.settings_href !== null && (
          <Panel title={t('detail.configStatus')}>
            {reaches(role, 'admin') ? (
              <QueryState query={settings} lines={4}>
                {(data) => <ToolSetup tool={tool} settings={data} />}
              </QueryState>
            ) : (
              <p className="text-muted">{t('common:needsRole', { role: t('common:role.admin') })}</p>
            )}
          </Panel>
        )}
        <Panel title={t('detail.manualConfig')}>
          <p className="mb-2 text-muted">
            {t(`byHand.${tool.api === 'anthropic-messages' ? 'root' : 'v1'}`)}
          </p>
          <CodeBlock code={tool.api === 'anthropic-messages' ? gatewayUrl() : `${gatewayUrl()}/v1`} />
          <p className="mt-4 mb-2 text-muted">{t('byHand.command')}</p>
          <CodeBlock code={`gateway tools configure ${tool.id}`} />
        </Panel>
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
