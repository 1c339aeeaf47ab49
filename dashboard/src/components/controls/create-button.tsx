import { Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { allows, type Page } from '../../lib/api/client.ts';
import { Button } from './button.tsx';

interface CreateButtonProps {
  /** The collection, once it is loaded: it says whether the member of the team may add to it. */
  collection: Page<unknown> | undefined;
  onClick(): void;
  children: string;
}

/** Begins a new member of a collection; for those who may not it is disabled, and says who may. */
export function CreateButton({ children, collection, onClick }: CreateButtonProps) {
  const { t } = useTranslation();
  const may = collection === undefined || allows(collection, 'create');
  return (
    <Button
      variant="primary"
      icon={Plus}
      onClick={onClick}
      disabledReason={may ? null : t('needsRole', { role: t('role.admin') })}
    >
      {children}
    </Button>
  );
}
