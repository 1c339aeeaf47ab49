import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { buttonClass } from '../../components/controls/button.tsx';
import { useApi } from '../../lib/api/client.ts';
import { reaches, useRole } from '../../lib/api/session.ts';
import { latestQuery, servicesQuery } from './queries.ts';

/** Leads whoever may to the setup, while no provider is connected or nothing was asked yet. Asks for nothing of its own. */
export function SetupLink() {
  const { t } = useTranslation('overview');
  const api = useApi();
  const mayDo = reaches(useRole(), 'admin');
  const services = useQuery({ ...servicesQuery(api), enabled: mayDo }).data?.resources;
  const requests = useQuery({ ...latestQuery(api), enabled: mayDo }).data?.count;
  const unconnected = services?.every(({ kind }) => kind !== 'provider_connection') ?? false;
  if (!mayDo || !(unconnected || requests === 0)) return null;
  return (
    <Link
      to="/setup"
      className={buttonClass('primary')}
      title={t(unconnected ? 'setup.noProvider' : 'setup.noRequest')}
    >
      <Rocket size={16} aria-hidden />
      {t('setup.continue')}
    </Link>
  );
}
