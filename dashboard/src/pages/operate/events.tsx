import { getRouteApi, Outlet, useParams } from '@tanstack/react-router';
import { Send } from 'lucide-react';
import { useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { ViewButtons } from '../../components/controls/view-buttons.tsx';
import { PageHeader } from '../../components/layout/page-header.tsx';
import { Panel } from '../../components/layout/panel.tsx';
import { DeadLetters } from '../../features/events/dead-letters.tsx';
import { EventMap } from '../../features/events/event-map.tsx';
import { type EventsSearch, eventViews } from '../../features/events/search.ts';
import { SendEvent } from '../../features/events/send-event.tsx';
import { Tail } from '../../features/events/tail.tsx';
import { Versions } from '../../features/events/versions.tsx';
import { reaches, useRole } from '../../lib/api/session.ts';

/** Below so many pixels a table shows more than the drawing. */
const NARROW = 700;

const route = getRouteApi('/events');

/** The event engine: where events go, what was given up, what passes at the moment, which configurations there were. */
export function EventsPage() {
  const { t } = useTranslation('events');
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { letterId } = useParams({ strict: false });
  const [sending, setSending] = useState(false);
  const operator = reaches(useRole(), 'operator');
  const view = operator ? (search.view ?? 'map') : 'map';
  const as = search.as ?? (window.innerWidth < NARROW ? 'table' : 'drawing');
  const change = useCallback(
    (next: Partial<EventsSearch>) =>
      void navigate({ search: (before: EventsSearch) => ({ ...before, ...next }), replace: true }),
    [navigate],
  );
  const onCesql = useCallback(
    (cesql: string) => change({ cesql: cesql === '' ? undefined : cesql }),
    [change],
  );
  return (
    <>
      <PageHeader
        title={t('title')}
        subtitle={t('subtitle')}
        actions={
          <Button
            icon={Send}
            onClick={() => setSending(true)}
            disabledReason={operator ? null : t('common:needsRole', { role: t('common:role.operator') })}
          >
            {t('send.open')}
          </Button>
        }
      />
      {operator && (
        <div className="mb-3">
          <ViewButtons
            label={t('views')}
            value={view}
            views={eventViews.map((name) => ({ value: name, label: t(`view.${name}`) }))}
            onChange={(name) => void navigate({ search: name === 'map' ? {} : { view: name } })}
          />
        </div>
      )}
      {view === 'map' && (
        <Panel
          flush
          title={t('map.title')}
          actions={
            <ViewButtons
              label={t('map.as')}
              value={as}
              views={(['drawing', 'table'] as const).map((value) => ({ value, label: t(`map.${value}`) }))}
              onChange={(chosen) => change({ as: chosen })}
            />
          }
        >
          <EventMap asTable={as === 'table'} />
        </Panel>
      )}
      {view === 'letters' && (
        <DeadLetters
          trigger={search.trigger ?? null}
          onTrigger={(trigger) => change({ trigger: trigger ?? undefined })}
          openId={letterId ?? null}
        />
      )}
      {view === 'tail' && <Tail cesql={search.cesql ?? ''} onCesql={onCesql} />}
      {view === 'versions' && <Versions />}
      {sending && <SendEvent onClose={() => setSending(false)} />}
      <Outlet />
    </>
  );
}
