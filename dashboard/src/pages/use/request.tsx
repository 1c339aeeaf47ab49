import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { ChevronDown, ChevronUp } from 'lucide-react';
import { useEffect, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { Sheet } from '../../components/dialogs/dialog.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { keyNamesQuery } from '../../features/keys/queries.ts';
import { requestQuery, requestsQuery } from '../../features/requests/queries.ts';
import { RequestDetail } from '../../features/requests/request-detail.tsx';
import { useApi } from '../../lib/api/client.ts';

const route = getRouteApi('/requests/$requestId');

/** One request in a sheet beside the list; J and K walk within the list's filter. */
export function RequestPage() {
  const { t } = useTranslation('requests');
  const api = useApi();
  const { requestId } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const request = useQuery(requestQuery(api, requestId));
  const names = useQuery(keyNamesQuery(api)).data;
  const now = useMemo(() => Date.now(), []);
  const list = useInfiniteQuery({ ...requestsQuery(api, search, now), enabled: false });
  const ids = list.data?.pages.flatMap(({ resources }) => resources.map(({ id }) => id)) ?? [];
  const at = ids.indexOf(requestId);
  const next = at === -1 ? undefined : ids[at + 1];
  const previous = at === -1 ? undefined : ids[at - 1];
  const go = (id: string | undefined) => {
    if (id === undefined) return;
    void navigate({
      to: '/requests/$requestId',
      params: { requestId: id },
      search: (before) => before,
      replace: true,
    });
  };
  const close = () => void navigate({ to: '/requests', search: (before) => before });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey) return;
      if (event.key === 'j') go(next);
      if (event.key === 'k') go(previous);
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  });
  return (
    <Sheet
      open
      onClose={close}
      title={request.data?.requested_model ?? t('detail.title')}
      actions={
        <>
          <IconButton
            icon={ChevronUp}
            label={t('detail.previous')}
            disabled={previous === undefined}
            onClick={() => go(previous)}
          />
          <IconButton
            icon={ChevronDown}
            label={t('detail.next')}
            disabled={next === undefined}
            onClick={() => go(next)}
          />
        </>
      }
    >
      <QueryState query={request} lines={8}>
        {(data) => (
          <RequestDetail
            request={data}
            keyName={data.key_id === null ? null : (names?.get(data.key_id) ?? null)}
          />
        )}
      </QueryState>
    </Sheet>
  );
}
