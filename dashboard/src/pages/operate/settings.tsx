import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Settings2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { FilterBox } from '../../components/controls/filter-box.tsx';
import { ViewButtons } from '../../components/controls/view-buttons.tsx';
import { EmptyState } from '../../components/layout/empty-state.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { AppearancePanel } from '../../features/settings/appearance-panel.tsx';
import { GatewayPanel } from '../../features/settings/gateway-panel.tsx';
import { grouped } from '../../features/settings/groups.ts';
import { type Setting, settingsQuery } from '../../features/settings/queries.ts';
import { type SettingsSearch, type SettingView, settingViews } from '../../features/settings/search.ts';
import { SettingList } from '../../features/settings/setting-list.tsx';
import { useApi } from '../../lib/api/client.ts';

const route = getRouteApi('/settings');

const fits: Readonly<Record<SettingView, (setting: Setting) => boolean>> = {
  all: () => true,
  changed: ({ in_file, source }) => source !== 'default' || in_file,
  restart: ({ restart_required }) => restart_required,
};

/** Every setting with what is in force and where it comes from; the looks of the pages; stopping and restarting. */
export function SettingsPage() {
  const { t } = useTranslation('settings');
  const api = useApi();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const settings = useQuery(settingsQuery(api));
  const view = search.view ?? 'all';
  const wanted = (search.q ?? '').toLowerCase();
  const change = (next: Partial<SettingsSearch>) =>
    void navigate({ search: (before: SettingsSearch) => ({ ...before, ...next }), replace: true });
  return (
    <>
      <PageHeader title={t('title')} subtitle={t('subtitle')} />
      <div className="flex flex-col gap-5">
        <div className="grid grid-cols-1 gap-5 xl:grid-cols-2">
          <GatewayPanel />
          <AppearancePanel />
        </div>
        <div className="flex flex-wrap items-center gap-2">
          <ViewButtons
            label={t('views')}
            value={view}
            views={settingViews.map((name) => ({ value: name, label: t(`view.${name}`) }))}
            onChange={(name) => change({ view: name === 'all' ? undefined : name })}
          />
          <FilterBox
            label={t('filter')}
            value={search.q ?? ''}
            onChange={(q) => change({ q: q === '' ? undefined : q })}
          />
        </div>
        <QueryState query={settings} lines={10} height={420}>
          {({ resources }) => {
            const shown = resources.filter(
              (setting) =>
                fits[view](setting) &&
                (setting.name.includes(wanted) ||
                  t(`describe.${setting.name}`).toLowerCase().includes(wanted)),
            );
            if (shown.length === 0)
              return (
                <Panel>
                  <EmptyState icon={Settings2} title={t('empty')} />
                </Panel>
              );
            return grouped(shown).map((part) => (
              <Panel key={part.group} title={t(`group.${part.group}`)} flush>
                <SettingList settings={part.settings} />
              </Panel>
            ));
          }}
        </QueryState>
      </div>
    </>
  );
}
