import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { TextField } from '../../components/controls/field.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';
import { modelIdsQuery } from '../../lib/api/model-ids.ts';
import { reaches, useRole } from '../../lib/api/session.ts';

/** What a tool is to be set up with. */
export interface Setup {
  address: string;
  model: string;
  /** The text of a gateway key; empty keeps the one that the tool has. */
  key: string;
}

interface SetupFieldsProps {
  /** Names the key that is made for it. */
  toolId: string;
  setup: Setup;
  onSetup(setup: Setup): void;
  modelRequired: boolean;
  /** What becomes of the key. */
  keyHint: string;
}

/** The address, the model and the key that a tool is to use; a key may be made on the way. */
export function SetupFields({ keyHint, modelRequired, onSetup, setup, toolId }: SetupFieldsProps) {
  const { t } = useTranslation('cliCommon');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const mayMake = reaches(useRole(), 'admin');
  const models = useQuery(modelIdsQuery(api)).data?.resources ?? [];
  const changed =
    (name: keyof Setup) =>
    ({ target }: { target: { value: string } }) =>
      onSetup({ ...setup, [name]: target.value });
  const makeKey = useMutation({
    mutationFn: async () => {
      const name = `${toolId} ${new Date().toISOString().slice(0, 19)}`;
      const { results } = await api.post<{ results: { key: string }[] }>('keys', { name });
      return { name, key: results[0]?.key ?? '' };
    },
    onSuccess: async (made) => {
      onSetup({ ...setup, key: made.key });
      await queries.invalidateQueries({ queryKey: ['keys'] });
      notify(t('detail.keyMade', { name: made.name }));
    },
  });
  return (
    <>
      <TextField
        label={t('detail.baseUrlLabel')}
        value={setup.address}
        onChange={changed('address')}
        required
      />
      <TextField
        label={t('detail.modelLabel')}
        hint={t('detail.modelHint')}
        list="tool-models"
        value={setup.model}
        onChange={changed('model')}
        required={modelRequired}
      />
      <datalist id="tool-models">
        {models.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <div className="flex items-start gap-2">
        <div className="min-w-0 flex-1">
          <TextField
            label={t('detail.apiKeyLabel')}
            hint={keyHint}
            type="password"
            autoComplete="off"
            value={setup.key}
            onChange={changed('key')}
          />
        </div>
        <Button
          className="mt-6"
          busy={makeKey.isPending}
          disabledReason={mayMake ? null : t('common:needsRole', { role: t('common:role.admin') })}
          onClick={() => makeKey.mutate()}
        >
          {t('detail.makeKey')}
        </Button>
      </div>
      {makeKey.isError && <ErrorNotice error={makeKey.error} />}
    </>
  );
}
