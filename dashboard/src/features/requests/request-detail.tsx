import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../../components/controls/copy-button.tsx';
import { Count, Duration, Money, RelativeTime } from '../../components/figures/amounts.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { OutcomeBadge } from './outcome-badge.tsx';
import type { Request } from './queries.ts';
import { isFormat, repeatedAsCurl } from './repeat.ts';
import { Waterfall } from './waterfall.tsx';

/** Everything that is kept of a request, an error first. */
export function RequestDetail({ request, keyName }: { request: Request; keyName: string | null }) {
  const { t } = useTranslation('requests');
  const { error, trace, usage } = request;
  return (
    <div className="flex flex-col gap-5">
      {error !== null && (
        <div role="alert" className="rounded-md bg-bad-soft p-3">
          <p className="font-medium text-bad">
            <code>{error.code}</code>
          </p>
          <p className="mt-1 [overflow-wrap:anywhere]">{error.message}</p>
        </div>
      )}
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-3">
        <Fact label={t('column.status')}>
          <OutcomeBadge request={request} />
        </Fact>
        <Fact label={t('column.time')}>
          <RelativeTime at={request.started_at} />
        </Fact>
        <Fact label={t('column.cost')}>
          <Money value={request.cost_usd} />
        </Fact>
        <Fact label={t('column.duration')}>
          <Duration value={request.duration_ms} />
        </Fact>
        <Fact label={t('column.ttft')}>
          <Duration value={request.ttft_ms} unknown={t('noFirstByte')} />
        </Fact>
        <Fact label={t('column.key')}>{keyName ?? (request.key_id === null ? '–' : t('removedKey'))}</Fact>
        <Fact label={t('detail.asked')}>{request.requested_model ?? '–'}</Fact>
        <Fact label={t('detail.served')}>
          {request.model === null ? '–' : `${request.connection ?? ''}/${request.model}`}
        </Fact>
        <Fact label={t('detail.format')}>
          {request.format}
          {request.streamed && ` · ${t('detail.streamed')}`}
        </Fact>
        {(request.asked_tier ?? request.served_tier) !== null && (
          <Fact label={t('detail.tier')}>
            {request.asked_tier === request.served_tier
              ? request.served_tier
              : t('detail.tiers', { asked: request.asked_tier ?? '–', served: request.served_tier ?? '–' })}
          </Fact>
        )}
        {request.finish_reason !== null && (
          <Fact label={t('detail.finishReason')}>
            {t(`finishReason.${request.finish_reason}`)}
            {request.raw_finish_reason !== null && (
              <code className="ms-1.5 text-muted text-xs">{request.raw_finish_reason}</code>
            )}
          </Fact>
        )}
        <Fact label={t('detail.client')}>{request.user_agent ?? '–'}</Fact>
        {request.session !== null && (
          <Fact label={t('column.session')}>
            <Link
              to="/requests"
              search={{ range: '30d', session: request.session }}
              className="text-accent hover:underline"
            >
              {request.session}
            </Link>
          </Fact>
        )}
        <Fact label={t('detail.upstreamId')}>{request.upstream_request_id ?? '–'}</Fact>
        <Fact label={t('detail.id')}>
          <span className="flex items-center">
            <code className="truncate text-xs">{request.id}</code>
            <CopyButton text={request.id} />
          </span>
        </Fact>
      </dl>
      {request.dropped.length > 0 && (
        <Part title={t('detail.dropped')}>
          <p className="mb-1 text-muted">{t('detail.droppedWhy')}</p>
          <p>
            {request.dropped.map((field) => (
              <code key={field} className="me-1 rounded bg-sunken px-1.5 py-0.5 text-xs">
                {field}
              </code>
            ))}
          </p>
        </Part>
      )}
      {trace !== null && trace !== undefined && trace.attempts.length > 0 && (
        <Part title={t('detail.attempts', { count: trace.attempts.length })}>
          <Waterfall attempts={trace.attempts} total={request.duration_ms} ttft={request.ttft_ms} />
        </Part>
      )}
      {trace !== null && trace !== undefined && <Decision trace={trace} />}
      {trace === null && <p className="text-muted">{t('detail.noTrace')}</p>}
      <Part title={t('detail.usage')}>
        {usage === null ? (
          <p className="text-muted">{t('noUsage')}</p>
        ) : (
          <dl className="grid grid-cols-2 gap-x-6 gap-y-1.5 sm:grid-cols-3">
            {Object.entries(usage)
              .filter(([name, count]) => count > 0 || name === 'input' || name === 'output')
              .map(([name, count]) => (
                <div key={name} className="flex justify-between gap-2">
                  <dt className="text-muted">{t(`usage.${name}`)}</dt>
                  <dd>
                    <Count value={count} />
                  </dd>
                </div>
              ))}
          </dl>
        )}
        <p className="mt-2 text-muted text-xs">
          {request.price_source === null
            ? t(request.cost_unknown === 'no_tier_price' ? 'detail.noTierPrice' : 'detail.noPrice', {
                tier: request.served_tier ?? '',
              })
            : t('detail.priceFrom', { source: request.price_source })}
          {request.cost_unknown === 'no_unit_price' && ` ${t('detail.noUnitPrice')}`}
          {request.estimated && ` ${t('detail.estimated')}`}
          {request.cached && ` ${t('detail.cached')}`}
          {request.billing === 'plan' && ` ${t('detail.plan')}`}
        </p>
      </Part>
      {request.requested_model !== null && isFormat(request.format) && (
        <Part title={t('detail.repeat')}>
          <p className="mb-2 text-muted">{t('detail.repeatHow')}</p>
          <CodeBlock code={repeatedAsCurl(request.format, request.requested_model, request.streamed)} />
        </Part>
      )}
    </div>
  );
}

/** Why the request went where it went, in words. */
function Decision({ trace }: { trace: NonNullable<Request['trace']> }) {
  const { t } = useTranslation('requests');
  return (
    <Part title={t('detail.decision')}>
      <p>
        {trace.combo === null
          ? t('decision.direct', { name: trace.requested })
          : t('decision.combo', {
              name: trace.requested,
              combo: trace.combo,
              strategy: trace.strategy ?? '',
            })}
      </p>
      {trace.candidates.length > 0 && (
        <ol className="mt-2 list-decimal ps-5 text-muted">
          {trace.candidates.map(({ connection, connection_id, model }) => (
            <li key={`${connection_id} ${model}`}>
              {connection}/{model}
            </li>
          ))}
        </ol>
      )}
      {trace.skipped.length > 0 && (
        <>
          <p className="mt-3 font-medium text-xs">{t('decision.skipped')}</p>
          <ul className="mt-1 flex flex-col gap-1">
            {trace.skipped.map(({ connection, connection_id, detail, model }) => (
              <li key={`${connection_id} ${model}`} className="text-muted">
                {connection}/{model}: {detail}
              </li>
            ))}
          </ul>
        </>
      )}
    </Part>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-2 font-semibold text-sm">{title}</h3>
      {children}
    </section>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs">{label}</dt>
      <dd className="mt-0.5 truncate">{children}</dd>
    </div>
  );
}
