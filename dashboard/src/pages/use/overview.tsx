import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { Skeleton } from '../../components/layout/skeleton.tsx';
import { AccountsStrip } from '../../features/overview/accounts-strip.tsx';
import { Attention } from '../../features/overview/attention.tsx';
import { HoursChart } from '../../features/overview/hours-chart.tsx';
import { LatestRequests } from '../../features/overview/latest-requests.tsx';
import { attentionQuery, budgetsQuery, servicesQuery, usageQuery } from '../../features/overview/queries.ts';
import { SetupLink } from '../../features/overview/setup-link.tsx';
import { Figures } from '../../features/overview/spend.tsx';
import { useApi } from '../../lib/api/client.ts';
import { reaches, useRole } from '../../lib/api/session.ts';
import { useNow } from '../../lib/now.ts';

/** Is it working, and what did today cost: within one screen. */
export function OverviewPage() {
  const { t } = useTranslation('overview');
  const api = useApi();
  const role = useRole();
  const now = useNow();
  const usage = useQuery(usageQuery(api, now));
  const budgets = useQuery(budgetsQuery(api));
  const services = useQuery(servicesQuery(api));
  const attention = useQuery(attentionQuery(api));
  // What needs a person stands on top: without it everything would move down when it comes.
  if (attention.isPending)
    return (
      <>
        <PageHeader title={t('title')} subtitle={t('subtitle')} />
        <Skeleton lines={8} height={480} />
      </>
    );
  return (
    <>
      <PageHeader title={t('title')} subtitle={t('subtitle')} actions={<SetupLink />} />
      <div className="flex flex-col gap-4">
        {attention.data !== undefined && <Attention rows={attention.data.resources} />}
        <QueryState query={usage} height={104}>
          {({ days }) => <Figures days={days} budgets={budgets.data?.resources ?? []} now={now} />}
        </QueryState>
        <div className="grid gap-4 lg:grid-cols-[3fr_2fr]">
          <Panel title={t('chart.title')}>
            <QueryState query={usage} height={190}>
              {({ hours }) => <HoursChart hours={hours} now={now} />}
            </QueryState>
          </Panel>
          <Panel title={t('accounts.title')}>
            <QueryState query={services} height={190}>
              {({ resources }) => <AccountsStrip services={resources} />}
            </QueryState>
          </Panel>
        </div>
        {reaches(role, 'operator') && (
          <Panel title={t('latest.title')} flush>
            <LatestRequests />
          </Panel>
        )}
      </div>
    </>
  );
}
