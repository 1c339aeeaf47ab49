import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';
import type { SavedView, SavedViewPage } from './queries.ts';

interface SaveViewProps {
  page: SavedViewPage;
  /** The filters, as a query string. */
  search: string;
  /** What is saved already: the name of one of them puts the filters in its place. */
  views: readonly SavedView[];
  onClose(): void;
}

/** Saves the filters of a page under a name, for this user alone. */
export function SaveView({ onClose, page, search, views }: SaveViewProps) {
  const { t } = useTranslation('views');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [name, setName] = useState('');
  const before = views.find((view) => view.name === name.trim());
  const save = useMutation({
    mutationFn: () =>
      before === undefined
        ? api.post('views', { page, name: name.trim(), search })
        : api.patch(`views/${encodeURIComponent(before.id)}`, { search }),
    onSuccess: async () => {
      notify(t('saved', { name: name.trim() }));
      onClose();
      await queries.invalidateQueries({ queryKey: ['views', page] });
    },
  });
  return (
    <FormDialog
      onClose={onClose}
      title={t('save')}
      description={t('what')}
      submit={before === undefined ? t('submit') : t('replace')}
      busy={save.isPending}
      disabledReason={name.trim() === '' ? t('needsName') : null}
      onSubmit={() => save.mutate()}
    >
      <TextField
        label={t('name')}
        autoComplete="off"
        maxLength={60}
        value={name}
        onChange={({ target }) => setName(target.value)}
        autoFocus
        required
      />
      {save.isError && <ErrorNotice error={save.error} />}
    </FormDialog>
  );
}
