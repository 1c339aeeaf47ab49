import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { RelativeTime } from '../../components/figures/amounts.tsx';
import type { Service } from './queries.ts';
import { HealthBadge, problemText, StateBadge } from './service-state.tsx';

/** Everything that is known of one service: its state, each check, where it answers, what it depends on. */
export function ServiceDetail({ service }: { service: Service }) {
  const { t } = useTranslation('services');
  const { endpoints, health, last_error, restarts, state_reason } = service;
  return (
    <div className="flex flex-col gap-5">
      <p className="text-muted">{service.description}</p>
      <dl className="grid grid-cols-[minmax(7rem,auto)_1fr] gap-x-4 gap-y-2">
        <Fact name={t('column.state')}>
          <StateBadge service={service} />
          {state_reason !== null && <p className="mt-1">{problemText(t, state_reason)}</p>}
        </Fact>
        <Fact name={t('column.since')}>
          <RelativeTime at={service.state_changed_at} never="–" />
        </Fact>
        <Fact name={t('detail.wanted')}>{t(`state.${service.desired_state}`)}</Fact>
        <Fact name={t('column.restarts')}>
          {restarts.count} {restarts.last_at !== null && <RelativeTime at={restarts.last_at} />}
        </Fact>
        {service.version !== null && <Fact name={t('detail.version')}>{service.version}</Fact>}
        {service.critical && <Fact name={t('detail.critical')}>{t('detail.criticalWhat')}</Fact>}
        {last_error !== null && (
          <Fact name={t('detail.lastError')}>
            {last_error.message} {last_error.at !== null && <RelativeTime at={last_error.at} />}
          </Fact>
        )}
      </dl>
      <section>
        <h3 className="mb-2 font-semibold text-sm">{t('detail.checks')}</h3>
        {health.checks.length === 0 && <p className="text-muted">{t('detail.noChecks')}</p>}
        <ul className="flex flex-col gap-2">
          {health.checks.map((check) => (
            <li key={check.name} className="flex flex-wrap items-baseline gap-2">
              <HealthBadge status={check.status} />
              <code className="text-xs">{check.name}</code>
              <span className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">{check.output}</span>
              <span className="text-muted text-xs">
                <RelativeTime at={check.observed_at} />
              </span>
            </li>
          ))}
        </ul>
      </section>
      {endpoints.length > 0 && (
        <section>
          <h3 className="mb-2 font-semibold text-sm">{t('detail.endpoints')}</h3>
          <ul className="flex flex-col gap-1">
            {endpoints.map(({ host, path, port, tls, visibility }) => (
              <li key={`${host}:${port}${path}`} className="flex flex-wrap items-center gap-2">
                <code className="text-xs [overflow-wrap:anywhere]">
                  {tls ? 'https' : 'http'}://{host.includes(':') ? `[${host}]` : host}:{port}
                  {path}
                </code>
                <span className="text-muted text-xs">{t(`visibility.${visibility}`)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <Linked title={t('detail.dependsOn')} services={service.depends_on} />
      <Linked title={t('detail.dependents')} services={service.dependents} />
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}

function Linked({ title, services }: { title: string; services: Service['depends_on'] }) {
  if (services.length === 0) return null;
  return (
    <section>
      <h3 className="mb-1 font-semibold text-sm">{title}</h3>
      <ul className="flex flex-wrap gap-x-3 gap-y-1">
        {services.map(({ id }) => (
          <li key={id}>
            <Link
              from="/services/$serviceId"
              to="/services/$serviceId"
              params={{ serviceId: id }}
              search={(before) => before}
              className="text-accent underline"
            >
              {id}
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
