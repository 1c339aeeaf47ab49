import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../components/page-header.tsx';
import { AgentsList } from '../features/acp-agents/agents-list.tsx';

const route = getRouteApi('/acp-agents');

/** The agents that the gateway starts itself, and that answer as models. */
export function AcpAgentsPage() {
  const { t } = useTranslation('acpAgents');
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader title={t('pageTitle')} subtitle={t('pageSubtitle')} />
      <details className="mb-4 rounded-lg border border-line bg-panel px-4 py-2.5">
        <summary className="font-medium">{t('concept.title')}</summary>
        <p className="mt-2 max-w-prose">{t('concept.phrase')}</p>
        <p className="mt-1 text-muted">{t('concept.flow')}</p>
      </details>
      <AgentsList
        text={q}
        onText={(text) => void navigate({ search: text === '' ? {} : { q: text }, replace: true })}
      />
    </>
  );
}
