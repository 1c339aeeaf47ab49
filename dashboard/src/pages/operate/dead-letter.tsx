import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { Sheet } from '../../components/dialogs/dialog.tsx';
import { QueryState } from '../../components/layout/query-state.tsx';
import { LetterDetail } from '../../features/events/letter-detail.tsx';
import { deadLetterQuery } from '../../features/events/queries.ts';
import { useApi } from '../../lib/api/client.ts';

const route = getRouteApi('/events/$letterId');

/** One dead letter in a sheet beside the list. */
export function DeadLetterPage() {
  const { t } = useTranslation('events');
  const { letterId } = route.useParams();
  const navigate = route.useNavigate();
  const letter = useQuery(deadLetterQuery(useApi(), letterId));
  const close = () =>
    void navigate({ to: '/events', search: (before) => ({ ...before, view: 'letters' as const }) });
  return (
    <Sheet open onClose={close} title={String(letter.data?.event?.['type'] ?? t('letters.one'))}>
      <QueryState query={letter} lines={8}>
        {(data) => <LetterDetail letter={data} onGone={close} />}
      </QueryState>
    </Sheet>
  );
}
