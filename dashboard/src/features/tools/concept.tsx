import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

/** What kind of tools these are beside the other kind, folded away once it is known. */
export function Concept({ kind }: { kind: 'code' | 'agent' }) {
  const { t } = useTranslation('cliCommon');
  const other = kind === 'code' ? 'agent' : 'code';
  return (
    <details className="mb-4 rounded-lg border border-line bg-panel px-4 py-2.5">
      <summary className="font-medium">{t(`concept.${kind}.title`)}</summary>
      <p className="mt-2 max-w-prose">{t(`concept.${kind}.phrase`)}</p>
      <p className="mt-1 text-muted">{t(`concept.${kind}.flow`)}</p>
      <p className="mt-2 mb-1">
        {t('comparison.other')}{' '}
        <Link to={other === 'code' ? '/cli-code' : '/cli-agents'} className="text-accent underline">
          {t(`concept.${other}.title`)}
        </Link>
        : {t(`concept.${other}.phrase`)}
      </p>
    </details>
  );
}
