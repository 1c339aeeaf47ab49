import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Concept } from '../../features/tools/concept.tsx';
import { ToolsList } from '../../features/tools/tools-list.tsx';

const route = getRouteApi('/cli-agents');

export function AgentsPage() {
  const { t } = useTranslation('cliAgents');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader title={t('pageTitle')} subtitle={t('pageSubtitle')} />
      <Concept kind="agent" />
      <ToolsList
        category="agent"
        search={search}
        onSearch={(next) => void navigate({ search: next, replace: true })}
      />
    </>
  );
}
