import { Link } from '@tanstack/react-router';
import { Play } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { buttonClass } from '../../components/controls/button.tsx';
import { CopyButton } from '../../components/controls/copy-button.tsx';
import { Count, Money } from '../../components/figures/amounts.tsx';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { Abilities } from './columns.tsx';
import type { Alias, Model } from './queries.ts';

interface ModelDetailProps {
  model: Model;
  /** All models, to tell who else offers this one. */
  models: readonly Model[];
  aliases: readonly Alias[];
  /** Makes an alias of it. */
  aliasForm: ReactNode;
  mayTry: boolean;
}

const tokenRates = [
  'input',
  'output',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'reasoning',
  'audio_input',
  'audio_output',
  'image_input',
  'image_output',
] as const;

const unitRates = [
  'per_image',
  'per_audio_hour',
  'per_million_characters',
  'per_thousand_search_units',
] as const;

/** What is known of a model, what it costs, and who else offers it. */
export function ModelDetail({ aliasForm, aliases, mayTry, model, models }: ModelDetailProps) {
  const { t } = useTranslation('models');
  const { pricing } = model;
  const elsewhere = models.filter(
    (other) => other.id !== model.id && other.model !== null && other.model === model.model,
  );
  const names = aliases.filter(({ target }) => target === model.id);
  return (
    <div className="flex flex-col gap-5">
      <div className="flex flex-wrap items-center gap-2">
        <code className="min-w-0 truncate text-sm">{model.id}</code>
        <CopyButton text={model.id} />
        {model.deprecated === true && <StatusBadge tone="warn">{t('deprecated')}</StatusBadge>}
        {model.stage !== null && <StatusBadge tone="neutral">{model.stage}</StatusBadge>}
        {mayTry && (
          <Link to="/playground" search={{ a: model.id }} className={buttonClass('primary', 'ms-auto')}>
            <Play size={16} aria-hidden />
            {t('try')}
          </Link>
        )}
      </div>
      <dl className="grid grid-cols-2 gap-x-6 gap-y-3 sm:grid-cols-3">
        <Fact label={t('column.connection')}>{model.connection ?? '–'}</Fact>
        <Fact label={t('detail.provider')}>{model.provider}</Fact>
        <Fact label={t('column.released')}>{model.released ?? '–'}</Fact>
        <Fact label={t('column.context')}>
          <Count value={model.context_window} unknown={t('unknown')} />
        </Fact>
        <Fact label={t('column.output')}>
          <Count value={model.output_limit} unknown={t('unknown')} />
        </Fact>
        <Fact label={t('detail.modalities')}>
          {model.input_modalities === null && model.output_modalities === null
            ? '–'
            : `${model.input_modalities?.join(', ') ?? '–'} → ${model.output_modalities?.join(', ') ?? '–'}`}
        </Fact>
        <Fact label={t('column.abilities')}>
          <Abilities model={model} t={t} />
        </Fact>
      </dl>
      <section>
        <h3 className="mb-2 font-semibold text-sm">{t('detail.prices')}</h3>
        {pricing === null ? (
          <p className="text-muted">{t('detail.noPrice')}</p>
        ) : (
          <>
            <dl className="grid grid-cols-1 gap-x-8 gap-y-1.5 sm:grid-cols-2">
              {tokenRates.map((name) => {
                const rate = pricing[name];
                if (rate === null) return null;
                const base = typeof rate === 'number' ? rate : rate.base;
                const tiers = typeof rate === 'number' ? [] : rate.tiers;
                return (
                  <div key={name} className="flex justify-between gap-3">
                    <dt className="text-muted">{t(`rate.${name}`)}</dt>
                    <dd className="text-end">
                      <Money value={base} />
                      {tiers.map((tier) => (
                        <span key={tier.above} className="block text-muted text-xs">
                          {t('detail.above', { tokens: tier.above })} <Money value={tier.rate} />
                        </span>
                      ))}
                    </dd>
                  </div>
                );
              })}
              {unitRates.map((name) =>
                pricing[name] === null ? null : (
                  <div key={name} className="flex justify-between gap-3">
                    <dt className="text-muted">{t(`rate.${name}`)}</dt>
                    <dd>
                      <Money value={pricing[name]} />
                    </dd>
                  </div>
                ),
              )}
            </dl>
            <p className="mt-2 text-muted text-xs">{t('detail.priceFrom', { source: pricing.source })}</p>
          </>
        )}
      </section>
      {elsewhere.length > 0 && (
        <section>
          <h3 className="mb-2 font-semibold text-sm">{t('detail.elsewhere')}</h3>
          <ul className="flex flex-col gap-1">
            {elsewhere.map((other) => (
              <li key={other.id} className="flex justify-between gap-3">
                <Link
                  to="/models"
                  search={(before) => ({ ...before, model: other.id })}
                  className="min-w-0 truncate text-accent hover:underline"
                >
                  {other.id}
                </Link>
                <span className="whitespace-nowrap text-muted">
                  <Money value={other.input_usd} /> / <Money value={other.output_usd} />
                </span>
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h3 className="mb-2 font-semibold text-sm">{t('detail.aliases')}</h3>
        {names.length > 0 && (
          <p className="mb-2">
            {names.map(({ id, name }) => (
              <code key={id} className="me-1 rounded bg-sunken px-1.5 py-0.5 text-xs">
                {name}
              </code>
            ))}
          </p>
        )}
        {aliasForm}
      </section>
    </div>
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
