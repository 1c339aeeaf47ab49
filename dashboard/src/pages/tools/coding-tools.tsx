import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Concept } from '../../features/tools/concept.tsx';
import { ToolsList } from '../../features/tools/tools-list.tsx';

const route = getRouteApi('/cli-code');

export function CodingToolsPage() {
  const { t } = useTranslation('cliCode');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader title={t('pageTitle')} subtitle={t('pageSubtitle')} />
      <Concept kind="code" />
      <ToolsList
        category="code"
        search={search}
        onSearch={(next) => void navigate({ search: next, replace: true })}
      />
    </>
  );
}
