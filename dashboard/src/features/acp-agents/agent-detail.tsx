import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { allows, useApi } from '../../lib/api/client.ts';
import { AgentBadges } from './agent-badges.tsx';
import { AgentSettings } from './agent-settings.tsx';
import { type AcpAgent, acpAgentsKey, acpAgentsQuery } from './queries.ts';

/** One agent: how it is, what stands in its way, what it may do, and a test of it. */
export function AcpAgentDetail({ id }: { id: string }) {
  const { t } = useTranslation('acpAgents');
  const agents = useQuery(acpAgentsQuery(useApi()));
  return (
    <>
      <Link to="/acp-agents" className="text-accent text-sm underline">
        {t('back')}
      </Link>
      <QueryState query={agents} lines={10} height={420}>
        {({ resources }) => {
          const agent = resources.find((one) => one.id === id);
          if (agent === undefined) return <EmptyState title={t('noSuchAgent')} />;
          return <Detail key={agent.id} agent={agent} />;
        }}
      </QueryState>
    </>
  );
}

function Detail({ agent }: { agent: AcpAgent }) {
  const { t } = useTranslation('acpAgents');
  const output = agent.output ?? [];
  return (
    <>
      <PageHeader
        title={agent.name}
        subtitle={t(`agent.${agent.id}.description`, { defaultValue: agent.description })}
        actions={<AgentActions agent={agent} />}
      />
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title={t('status')}>
          <div className="flex flex-col gap-3">
            <AgentBadges agent={agent} />
            {agent.problem !== null && <p className="text-warn [overflow-wrap:anywhere]">{agent.problem}</p>}
            {agent.last_error !== null && (
              <p className="text-bad [overflow-wrap:anywhere]">{agent.last_error.message}</p>
            )}
            <Facts agent={agent} />
          </div>
        </Panel>
        <Panel title={t('settings')}>
          <AgentSettings agent={agent} />
        </Panel>
      </div>
      {output.length > 0 && (
        <Panel title={t('output')} className="mt-4">
          <CodeBlock code={output.join('\n')} />
        </Panel>
      )}
    </>
  );
}

function Facts({ agent }: { agent: AcpAgent }) {
  const { t } = useTranslation('acpAgents');
  const facts: readonly (readonly [string, string | null])[] = [
    [t('fact.model'), agent.model_id],
    [t('fact.version'), agent.version],
    [t('fact.program'), agent.program],
    [t('fact.command'), agent.command.join(' ')],
    [t('fact.install'), agent.install],
    [t('fact.processes'), t('fact.processCount', { running: agent.processes, waiting: agent.waiting })],
  ];
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1.5">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 [overflow-wrap:anywhere]">{value ?? '–'}</dd>
        </div>
      ))}
    </dl>
  );
}

function AgentActions({ agent }: { agent: AcpAgent }) {
  const { t } = useTranslation('acpAgents');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const navigate = useNavigate();
  const [removing, setRemoving] = useState(false);
  const path = `acp_agents/${encodeURIComponent(agent.id)}`;
  const act = useMutation({
    mutationFn: (action: 'test' | 'enable' | 'disable') => api.post<{ message: string }>(path, { action }),
    onSuccess: ({ message }) => notify(message),
    onError: (error) => notify(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: acpAgentsKey }),
  });
  return (
    <span className="flex flex-wrap items-center gap-2">
      {allows(agent, 'test') && (
        <Button
          busy={act.isPending && act.variables === 'test'}
          disabledReason={agent.usable ? null : (agent.problem ?? t('cannotAnswer'))}
          onClick={() => act.mutate('test')}
        >
          {t('test')}
        </Button>
      )}
      {allows(agent, 'disable') && (
        <Button busy={act.isPending && act.variables === 'disable'} onClick={() => act.mutate('disable')}>
          {t('disable')}
        </Button>
      )}
      {allows(agent, 'enable') && (
        <Button
          variant="primary"
          busy={act.isPending && act.variables === 'enable'}
          onClick={() => act.mutate('enable')}
        >
          {t('enable')}
        </Button>
      )}
      {allows(agent, 'delete') && (
        <Button variant="danger" onClick={() => setRemoving(true)}>
          {t('remove')}
        </Button>
      )}
      <ConfirmDialog
        open={removing}
        onClose={() => setRemoving(false)}
        title={t('removeTitle', { name: agent.name })}
        confirm={t('remove')}
        onConfirm={async () => {
          await api.remove(path);
          await queries.invalidateQueries({ queryKey: acpAgentsKey });
          await navigate({ to: '/acp-agents' });
        }}
      >
        {t('removeWhat')}
      </ConfirmDialog>
    </span>
  );
}
