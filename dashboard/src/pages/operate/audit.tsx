import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi, Outlet, useParams } from '@tanstack/react-router';
import { Download, FileClock } from 'lucide-react';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { Select } from '../../components/controls/field.tsx';
import { FilterBox } from '../../components/controls/filter-box.tsx';
import { timeRanges } from '../../components/controls/time-range.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { EndlessTable } from '../../components/tables/endless-table.tsx';
import { auditColumns } from '../../features/audit/columns.tsx';
import { allRecords, auditQuery } from '../../features/audit/queries.ts';
import { type AuditSearch, auditOutcomes, auditPlaces } from '../../features/audit/search.ts';
import { useApi } from '../../lib/api/client.ts';
import { csvText, download } from '../../lib/download.ts';

const route = getRouteApi('/audit');

/** Who changed, tried or was refused what: searched, filtered, and as a file. */
export function AuditPage() {
  const { t } = useTranslation('audit');
  const api = useApi();
  const notify = useNotify();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { auditId } = useParams({ strict: false });
  const now = useMemo(() => Date.now(), []);
  const list = useInfiniteQuery(auditQuery(api, search, now));
  const columns = useMemo(() => auditColumns(t), [t]);
  const first = list.data?.pages[0];
  const total = first === undefined ? null : (first.subquery_count ?? first.count);
  const change = (next: Partial<AuditSearch>) =>
    void navigate({ search: (before: AuditSearch) => ({ ...before, ...next }), replace: true });
  const save = useMutation({
    mutationFn: async () => {
      const records = await allRecords(api, search, now);
      const head = [
        'seq',
        'time',
        'actor',
        'role',
        'via',
        'address',
        'action',
        'target',
        'outcome',
        'reason',
      ];
      const cells = records.map(({ action, actor, address, outcome, reason, seq, target, time }) => [
        ...[seq, time, actor.name, actor.role, actor.via],
        ...[address, action, target, outcome, reason],
      ]);
      download(
        `audit-${new Date().toISOString().slice(0, 10)}.csv`,
        'text/csv;charset=utf-8',
        csvText([head, ...cells]),
      );
    },
    onError: (error) => notify(error.message),
  });
  return (
    <>
      <PageHeader
        title={t('title')}
        subtitle={t('subtitle')}
        actions={
          <Button icon={Download} busy={save.isPending} onClick={() => save.mutate()}>
            {t('csv')}
          </Button>
        }
      />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Select
          label={t('in.label')}
          value={search.in ?? 'what'}
          onChange={({ target }) =>
            change({ in: auditPlaces.find((place) => place === target.value && place !== 'what') })
          }
          choices={auditPlaces.map((value) => ({ value, label: t(`column.${value}`) }))}
        />
        <FilterBox
          label={t('filter')}
          value={search.q ?? ''}
          onChange={(q) => change({ q: q === '' ? undefined : q })}
        />
        <Select
          label={t('column.outcome')}
          value={search.outcome ?? ''}
          onChange={({ target }) => change({ outcome: auditOutcomes.find((one) => one === target.value) })}
          choices={[
            { value: '', label: t('outcome.all') },
            ...auditOutcomes.map((value) => ({ value, label: t(`outcome.${value}`) })),
          ]}
        />
        <Select
          label={t('common:range.label')}
          value={search.range ?? ''}
          onChange={({ target }) => change({ range: timeRanges.find((range) => range === target.value) })}
          choices={[
            { value: '', label: t('allTime') },
            ...timeRanges.map((value) => ({ value, label: t(`common:range.${value}`) })),
          ]}
        />
        <span className="ms-auto text-muted text-sm">{total !== null && t('count', { count: total })}</span>
      </div>
      <EndlessTable
        list={list}
        rowId={({ id }) => id}
        lines={10}
        height={420}
        label={t('title')}
        columns={columns}
        sort={null}
        sortedByServer
        onSort={() => {}}
        onOpen={({ id }) =>
          void navigate({ to: '/audit/$auditId', params: { auditId: id }, search: (before) => before })
        }
        openId={auditId ?? null}
        empty={<EmptyState icon={FileClock} title={t('empty')} />}
      />
      <Outlet />
    </>
  );
}
