import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Boxes } from 'lucide-react';
import { useCallback, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Select } from '../../components/controls/field.tsx';
import { FilterBox } from '../../components/controls/filter-box.tsx';
import { Sheet } from '../../components/dialogs/dialog.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { DataTable } from '../../components/tables/data-table.tsx';
import { AliasForm } from '../../features/models/alias-form.tsx';
import { AliasesList } from '../../features/models/aliases-list.tsx';
import { modelColumns } from '../../features/models/columns.tsx';
import { ModelDetail } from '../../features/models/model-detail.tsx';
import { aliasesQuery, isAble, type Model, modelsQuery } from '../../features/models/queries.ts';
import { abilities, type ModelsSearch } from '../../features/models/search.ts';
import { allows, useApi } from '../../lib/api/client.ts';
import { reaches, useRole } from '../../lib/api/session.ts';
import { searchOfSort, sortOf } from '../../lib/sort-search.ts';

const route = getRouteApi('/models');
const none: readonly Model[] = [];

/** Everything that can be asked for: what it can do, what it costs, and who offers it. */
export function ModelsPage() {
  const { t } = useTranslation('models');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const models = useQuery(modelsQuery(api));
  const aliases = useQuery(aliasesQuery(api));
  const mayTry = reaches(useRole(), 'operator');
  const columns = useMemo(() => modelColumns(t), [t]);
  const change = useCallback(
    (next: Partial<ModelsSearch>) =>
      void navigate({ search: (before) => ({ ...before, ...next }), replace: true }),
    [navigate],
  );
  const filter = useCallback((q: string) => change({ q: q === '' ? undefined : q }), [change]);
  const rows = useMemo(() => fitting(models.data ?? none, search), [models.data, search]);
  const open = models.data?.find(({ id }) => id === search.model);
  const known = aliases.data?.resources ?? [];
  const mayAlias = aliases.data === undefined || allows(aliases.data, 'create');
  return (
    <>
      <PageHeader title={t('title')} subtitle={t('subtitle')} />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <FilterBox label={t('filter')} value={search.q ?? ''} onChange={filter} />
        <Select
          label={t('choose.kind')}
          value={search.kind ?? ''}
          choices={[
            { value: '', label: t('choose.allKinds') },
            ...(['model', 'combo', 'alias'] as const).map((value) => ({
              value,
              label: t(`kinds.${value}`),
            })),
          ]}
          onChange={({ target }) =>
            change({ kind: target.value === '' ? undefined : (target.value as ModelsSearch['kind']) })
          }
        />
        <Select
          label={t('choose.able')}
          value={search.able ?? ''}
          choices={[
            { value: '', label: t('choose.anyAble') },
            ...abilities.map((value) => ({ value: value as string, label: t(`ability.${value}`) })),
          ]}
          onChange={({ target }) =>
            change({ able: target.value === '' ? undefined : (target.value as ModelsSearch['able']) })
          }
        />
        <span className="ms-auto text-muted text-sm">
          {models.data !== undefined && t('count', { count: rows.length })}
        </span>
      </div>
      <div className="flex flex-col gap-4">
        <Panel flush>
          <QueryState query={models} lines={10} height={420}>
            {() => (
              <DataTable
                label={t('title')}
                columns={columns}
                rows={rows}
                rowId={({ id }) => id}
                sort={sortOf(search)}
                onSort={(sort) => change({ sort: undefined, order: undefined, ...searchOfSort(sort) })}
                onOpen={({ id }) => void navigate({ search: (before) => ({ ...before, model: id }) })}
                openId={search.model ?? null}
                empty={
                  <EmptyState icon={Boxes} title={t('empty.title')}>
                    {t('empty.next')}
                  </EmptyState>
                }
              />
            )}
          </QueryState>
        </Panel>
        {known.length > 0 && (
          <Panel title={t('alias.title')} flush>
            <AliasesList aliases={known} />
          </Panel>
        )}
      </div>
      {open !== undefined && (
        <Sheet open title={open.name} onClose={() => change({ model: undefined })}>
          <ModelDetail
            model={open}
            models={models.data ?? none}
            aliases={known}
            mayTry={mayTry}
            aliasForm={
              <AliasForm
                key={open.id}
                target={open.id}
                disabledReason={mayAlias ? null : t('common:needsRole', { role: t('common:role.admin') })}
              />
            }
          />
        </Sheet>
      )}
    </>
  );
}

function fitting(models: readonly Model[], { able, kind, q = '' }: ModelsSearch): readonly Model[] {
  const words = q.toLowerCase().split(/\s+/);
  return models.filter((model) => {
    const text = `${model.id} ${model.name} ${model.provider}`.toLowerCase();
    const isKind = kind === undefined || model.kind === kind || (kind === 'combo' && model.kind === 'auto');
    return (
      isKind &&
      (able === undefined || isAble(model, able) === true) &&
      words.every((word) => text.includes(word))
    );
  });
}
