import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { buttonClass } from '../components/controls/button.tsx';
import { EmptyState } from '../components/layout/empty-state.tsx';

export function NotFoundPage() {
  const { t } = useTranslation();
  return (
    <EmptyState title={t('notFound.title')}>
      <Link to="/" className={buttonClass('primary', 'mt-2')}>
        {t('notFound.back')}
      </Link>
    </EmptyState>
  );
}
