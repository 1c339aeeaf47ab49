import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, buttonClass } from '../../components/controls/button.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { Count, RelativeTime } from '../../components/figures/amounts.tsx';
import { ConnectionState } from './connection-state.tsx';
import type { Connection, Quota } from './queries.ts';
import { QuotaBars } from './quota-bars.tsx';

interface ConnectionDetailsProps {
  connection: Connection;
  quota: Quota | undefined;
  onClose(): void;
}

/** How one account stands: why, until when, what is left of its limits, and what was wrong last. */
export function ConnectionDetails({ connection, onClose, quota }: ConnectionDetailsProps) {
  const { t } = useTranslation('connections');
  const {
    base_url,
    condition,
    last_error,
    model_conditions,
    models,
    models_at,
    models_error,
    name,
    provider,
  } = connection;
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={name}
      footer={
        <>
          <Link to="/requests" search={{ connection: name }} className={buttonClass('secondary', 'me-auto')}>
            {t('details.requests')}
          </Link>
          <Button onClick={onClose}>{t('common:close')}</Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 pb-3">
        <dl className="grid gap-x-6 gap-y-2 sm:grid-cols-2">
          <Fact label={t('column.provider')}>{provider}</Fact>
          <Fact label={t('column.state')}>
            <ConnectionState connection={connection} />
            {condition.reason !== null && <span className="block">{condition.reason}</span>}
            {condition.until !== null && (
              <span className="block text-muted">
                {t('details.until')} <RelativeTime at={condition.until} />
              </span>
            )}
          </Fact>
          <Fact label={t('form.address')}>{base_url ?? t('details.usualAddress')}</Fact>
          <Fact label={t('column.models')}>
            <Count value={models} unknown={models_error ?? undefined} />{' '}
            {models_at !== null && (
              <span className="text-muted">
                <RelativeTime at={models_at} />
              </span>
            )}
          </Fact>
          <Fact label={t('column.tested')}>
            <RelativeTime at={connection.last_tested_at} />
          </Fact>
          <Fact label={t('edit.priority')}>{connection.priority}</Fact>
          <Fact label={t('billing.title')}>{t(`billing.${connection.billing}`)}</Fact>
          {connection.oauth !== null && (
            <Fact label={t('details.login')}>
              {connection.oauth.logged_in ? t('login.done') : t('login.needed')}
              {connection.oauth.expires_at !== null && (
                <span className="text-muted">
                  {' '}
                  · <RelativeTime at={connection.oauth.expires_at} />
                </span>
              )}
            </Fact>
          )}
        </dl>
        {last_error !== null && (
          <section aria-label={t('column.lastError')}>
            <h3 className="font-medium">{t('column.lastError')}</h3>
            <p className="text-bad [overflow-wrap:anywhere]">{last_error}</p>
          </section>
        )}
        {model_conditions.length > 0 && (
          <section aria-label={t('details.models')}>
            <h3 className="font-medium">{t('details.models')}</h3>
            <ul>
              {model_conditions.map(({ model, reason, state, until }) => (
                <li key={model} className="[overflow-wrap:anywhere]">
                  {model}: {t(`state.${state}`)}
                  {reason !== null && ` (${reason})`}
                  {until !== null && (
                    <>
                      {' '}
                      · {t('details.until')} <RelativeTime at={until} />
                    </>
                  )}
                </li>
              ))}
            </ul>
          </section>
        )}
        <section aria-label={t('quota.title')}>
          <h3 className="mb-1 font-medium">{t('quota.title')}</h3>
          <QuotaBars quota={quota} />
        </section>
      </div>
    </Dialog>
  );
}

function Fact({ children, label }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs">{label}</dt>
      <dd className="[overflow-wrap:anywhere]">{children}</dd>
    </div>
  );
}
