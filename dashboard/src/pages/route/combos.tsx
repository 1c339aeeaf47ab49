import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Shuffle } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { CreateButton } from '../../components/controls/create-button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { Reopened } from '../../components/dialogs/reopened.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { useActivateCombo } from '../../features/combos/activate.ts';
import { ComboForm } from '../../features/combos/combo-form.tsx';
import { type Combo, combosQuery } from '../../features/combos/queries.ts';
import { useTargetFacts } from '../../features/combos/target-facts.ts';
import { TargetBadge, TargetFigures } from '../../features/combos/target-row.tsx';
import { allows, useApi } from '../../lib/api/client.ts';

const route = getRouteApi('/combos');

/** The named routing sets, which of them is active, and what is wrong with their targets. */
export function CombosPage() {
  const { t } = useTranslation('combos');
  const api = useApi();
  const queries = useQueryClient();
  const { q } = route.useSearch();
  const combos = useQuery(combosQuery(api));
  const activate = useActivateCombo();
  const [form, setForm] = useState<{ combo: Combo | null } | null>(null);
  const [removing, setRemoving] = useState<Combo | null>(null);
  const facts = useTargetFacts(combos.data?.resources ?? []);
  const shown = (all: readonly Combo[]) => all.filter(({ name }) => name.includes(q ?? ''));
  return (
    <>
      <PageHeader
        title={t('title')}
        subtitle={t('subtitle')}
        actions={
          <CreateButton collection={combos.data} onClick={() => setForm({ combo: null })}>
            {t('create')}
          </CreateButton>
        }
      />
      <QueryState query={combos} lines={6} height={300}>
        {({ resources }) =>
          resources.length === 0 ? (
            <Panel>
              <EmptyState icon={Shuffle} title={t('empty.title')}>
                {t('empty.next')}
              </EmptyState>
            </Panel>
          ) : (
            <ul className="flex flex-col gap-4">
              {shown(resources).map((combo) => (
                <li key={combo.id}>
                  <Panel
                    title={
                      <span className="flex items-center gap-2">
                        {combo.name}
                        {combo.active && <StatusBadge tone="ok">{t('active')}</StatusBadge>}
                        <span
                          className="font-normal text-muted text-xs"
                          title={t(`strategy.${combo.strategy}`)}
                        >
                          {combo.strategy}
                        </span>
                      </span>
                    }
                    actions={
                      <span className="flex flex-wrap gap-1">
                        {!combo.active && allows(combo, 'activate') && (
                          <Button onClick={() => activate.mutate(combo)}>{t('activate')}</Button>
                        )}
                        {allows(combo, 'edit') && (
                          <Button variant="quiet" onClick={() => setForm({ combo })}>
                            {t('edit')}
                          </Button>
                        )}
                        {allows(combo, 'delete') && (
                          <Button variant="danger" onClick={() => setRemoving(combo)}>
                            {t('remove')}
                          </Button>
                        )}
                      </span>
                    }
                  >
                    <ol className="flex flex-col gap-3">
                      {combo.targets.map(({ problem, target, weight }, index) => {
                        const known = facts.of(target);
                        return (
                          <li key={target} className="flex gap-2">
                            <span className="nums text-muted">{index + 1}.</span>
                            <div className="min-w-0">
                              <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
                                <span className="[overflow-wrap:anywhere]">{target}</span>
                                {combo.strategy === 'weighted' && (
                                  <span className="nums text-muted text-xs">× {weight}</span>
                                )}
                                <TargetBadge facts={known} problem={problem} />
                              </div>
                              <TargetFigures facts={known} />
                            </div>
                          </li>
                        );
                      })}
                    </ol>
                  </Panel>
                </li>
              ))}
            </ul>
          )
        }
      </QueryState>
      {form !== null && (
        <Reopened row={form.combo}>
          {(combo, reopen) => (
            <ComboForm combo={combo} facts={facts} onClose={() => setForm(null)} onReload={reopen} />
          )}
        </Reopened>
      )}
      <ConfirmDialog
        open={removing !== null}
        onClose={() => setRemoving(null)}
        title={t('removeTitle', { name: removing?.name ?? '' })}
        confirm={t('remove')}
        onConfirm={async () => {
          await api.remove(`combos/${encodeURIComponent(removing?.id ?? '')}`);
          await queries.invalidateQueries({ queryKey: ['combos'] });
        }}
      >
        {t('removeWhat')}
      </ConfirmDialog>
    </>
  );
}
