import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { AgentsList } from '../../features/acp-agents/agents-list.tsx';
import { Concept } from '../../features/tools/concept.tsx';

const route = getRouteApi('/acp-agents');

/** The agents that the gateway starts itself, and that answer as models. */
export function AcpAgentsPage() {
  const { t } = useTranslation('acpAgents');
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader title={t('pageTitle')} subtitle={t('pageSubtitle')} />
      <Concept kind="acp" />
      <AgentsList
        text={q}
        onText={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
      />
    </>
  );
}
