import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { CreateButton } from '../../components/controls/create-button.tsx';
import { FilterBox } from '../../components/controls/filter-box.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { useApi } from '../../lib/api/client.ts';
import { AgentBadges } from './agent-badges.tsx';
import { AgentForm } from './agent-form.tsx';
import { type AcpAgent, acpAgentsKey, acpAgentsQuery } from './queries.ts';

interface AgentsListProps {
  /** What names and descriptions are searched for. */
  text: string;
  onText(text: string): void;
}

/** A card for each agent that the gateway can start. */
export function AgentsList({ text, onText }: AgentsListProps) {
  const { t } = useTranslation('acpAgents');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const agents = useQuery(acpAgentsQuery(api));
  const [adding, setAdding] = useState(false);
  const refresh = useMutation({
    mutationFn: () => api.post('acp/agents', { action: 'refresh' }),
    onError: (error) => notify(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: acpAgentsKey }),
  });
  const wanted = text.toLowerCase();
  const fits = ({ description, id, name }: AcpAgent) =>
    `${id} ${name} ${t(`agent.${id}.description`, { defaultValue: description })}`
      .toLowerCase()
      .includes(wanted);
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <FilterBox label={t('search')} value={text} onChange={onText} />
        <Button icon={RefreshCw} busy={refresh.isPending} onClick={() => refresh.mutate()}>
          {t('refresh')}
        </Button>
        <CreateButton collection={agents.data} onClick={() => setAdding(true)}>
          {t('addCustomAgent')}
        </CreateButton>
      </div>
      <QueryState query={agents} lines={10} height={420}>
        {({ resources }) => {
          const shown = resources.filter(fits);
          if (shown.length === 0) return <EmptyState title={t('empty')} />;
          return (
            <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
              {shown.map((agent) => (
                <AgentCard key={agent.id} agent={agent} />
              ))}
            </ul>
          );
        }}
      </QueryState>
      {adding && <AgentForm onClose={() => setAdding(false)} />}
    </>
  );
}

function AgentCard({ agent }: { agent: AcpAgent }) {
  const { t } = useTranslation('acpAgents');
  return (
    <li className="min-w-0">
      <Link
        to="/acp-agents/$agentId"
        params={{ agentId: agent.id }}
        className="flex h-full flex-col gap-2 rounded-lg border border-line bg-panel p-4 hover:border-accent"
      >
        <span className="flex items-baseline gap-2">
          <span className="truncate font-semibold">{agent.name}</span>
          <span className="ms-auto shrink-0 text-muted text-xs">{agent.version}</span>
        </span>
        <span className="line-clamp-2 flex-1 text-muted">
          {t(`agent.${agent.id}.description`, { defaultValue: agent.description })}
        </span>
        <code className="truncate text-muted text-xs">{agent.model_id}</code>
        <AgentBadges agent={agent} />
      </Link>
    </li>
  );
}
