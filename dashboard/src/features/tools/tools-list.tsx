import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { Select } from '../../components/controls/field.tsx';
import { FilterBox } from '../../components/controls/filter-box.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { useApi } from '../../lib/api/client.ts';
import { useCatalogueTexts } from '../../lib/i18n/catalogue-texts.ts';
import { BUILDER, statusesQuery, type Tool, toolsQuery, visible } from './queries.ts';
import { installStates, supports, type ToolsSearch } from './search.ts';
import { ToolBadges } from './tool-status.tsx';

interface ToolsListProps {
  category: Tool['category'];
  search: ToolsSearch;
  onSearch(search: ToolsSearch): void;
}

/** A card for each tool of a category that can be pointed at the gateway. */
export function ToolsList({ category, search, onSearch }: ToolsListProps) {
  const { t } = useTranslation('cliCommon');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const tools = useQuery(toolsQuery(api));
  const statuses = useQuery(statusesQuery(api));
  const inLanguage = useCatalogueTexts();
  const [refreshing, setRefreshing] = useState(false);
  const refresh = async () => {
    setRefreshing(true);
    try {
      await api.get('cli-tools/all-statuses', { query: { refresh: true } });
      await queries.invalidateQueries({ queryKey: ['tools'] });
      await queries.invalidateQueries({ queryKey: ['tool-statuses'] });
    } catch (error) {
      notify(error instanceof Error ? error.message : String(error));
    } finally {
      setRefreshing(false);
    }
  };
  const wanted = (search.q ?? '').toLowerCase();
  const fits = ({ baseUrlSupport, installed, name, vendor }: Tool) =>
    `${name} ${vendor}`.toLowerCase().includes(wanted) &&
    (search.support === undefined || search.support === 'all' || baseUrlSupport === search.support) &&
    (search.found === undefined || search.found === 'all' || installed === (search.found === 'installed'));
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-2">
        <FilterBox
          label={t('search')}
          value={search.q ?? ''}
          onChange={(q) => onSearch({ ...search, ...(q === '' ? { q: undefined } : { q }) })}
        />
        <Select
          label={t('filter.label')}
          value={search.found ?? 'all'}
          onChange={(event) => onSearch({ ...search, found: event.target.value as ToolsSearch['found'] })}
          choices={installStates.map((value) => ({ value, label: t(`filter.${value}`) }))}
        />
        <Select
          label={t('filter.support')}
          value={search.support ?? 'all'}
          onChange={(event) => onSearch({ ...search, support: event.target.value as ToolsSearch['support'] })}
          choices={supports.map((value) => ({ value, label: t(`filter.support_${value}`) }))}
        />
        <Button icon={RefreshCw} busy={refreshing} onClick={refresh}>
          {t('card.refreshDetection')}
        </Button>
      </div>
      <QueryState query={tools} lines={10} height={420}>
        {({ resources }) => {
          const shown = visible(resources, category).filter(fits);
          if (shown.length === 0) return <EmptyState title={t('empty')} />;
          return (
            <ul className="grid gap-3 sm:grid-cols-2 xl:grid-cols-3">
              {shown.map((tool) => (
                <ToolCard
                  key={tool.id}
                  tool={inLanguage(tool)}
                  version={statuses.data?.[tool.id]?.detection.version}
                />
              ))}
            </ul>
          );
        }}
      </QueryState>
    </>
  );
}

function ToolCard({ tool, version }: { tool: Tool; version: string | undefined }) {
  return (
    <li className="min-w-0">
      <Link
        to={tool.category === 'code' ? '/cli-code/$toolId' : '/cli-agents/$toolId'}
        params={{ toolId: tool.id }}
        data-tool={tool.id}
        className="flex h-full flex-col gap-2 rounded-lg border border-line bg-panel p-4 hover:border-accent"
      >
        <span className="flex items-baseline gap-2">
          <span
            aria-hidden
            className="size-2.5 shrink-0 rounded-full"
            style={{ backgroundColor: tool.color }}
          />
          <span className="truncate font-semibold">{tool.name}</span>
          <span className="ms-auto shrink-0 text-muted text-xs">{version ?? tool.vendor}</span>
        </span>
        <span className="line-clamp-2 flex-1 text-muted">{tool.description}</span>
        {tool.endpoint !== null && tool.status !== 'not_installed' && (
          <span className="truncate text-muted text-xs" title={tool.endpoint}>
            {tool.endpoint}
          </span>
        )}
        {tool.id !== BUILDER && <ToolBadges tool={tool} />}
      </Link>
    </li>
  );
}
