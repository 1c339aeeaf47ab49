import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { classNames } from '../../components/layout/class-names.ts';

export type Kind = 'code' | 'agent' | 'acp';

const kinds: readonly { kind: Kind; to: '/cli-code' | '/cli-agents' | '/acp-agents' }[] = [
  { kind: 'code', to: '/cli-code' },
  { kind: 'agent', to: '/cli-agents' },
  { kind: 'acp', to: '/acp-agents' },
];

/** What the page's kind of tool is, and how the three kinds differ: folded away once it is known. */
export function Concept({ kind }: { kind: Kind }) {
  const { t } = useTranslation('cliCommon');
  return (
    <details className="mb-4 rounded-lg border border-line bg-panel px-4 py-2.5">
      <summary className="font-medium">{t(`concept.${kind}.title`)}</summary>
      <p className="mt-2 max-w-prose">{t(`concept.${kind}.phrase`)}</p>
      <p className="mt-1 font-mono text-muted text-xs">{t(`concept.${kind}.flow`)}</p>
      <p className="mt-1 text-muted">{t(`concept.${kind}.seeOther`)}</p>
      <h2 className="mt-4 mb-2 font-medium">{t('comparison.title')}</h2>
      <ul className="grid gap-3 pb-1 md:grid-cols-3">
        {kinds.map(({ kind: one, to }) => (
          <li
            key={one}
            className={classNames(
              'flex flex-col gap-1 rounded-md border p-3',
              one === kind ? 'border-accent bg-accent-soft' : 'border-line',
            )}
          >
            <span className="font-medium">{t(`comparison.${one}.title`)}</span>
            <span>{t(`comparison.${one}.desc`)}</span>
            <span className="font-mono text-muted text-xs">{t(`comparison.${one}.flow`)}</span>
            <span className="text-muted text-xs">{t(`comparison.${one}.examples`)}</span>
            {one === kind ? (
              <span className="mt-auto text-muted text-xs">{t('comparison.thisPage')}</span>
            ) : (
              <Link to={to} className="mt-auto self-start text-accent underline">
                {t('comparison.open')}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </details>
  );
}
