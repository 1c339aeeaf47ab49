import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ToolSettings } from '../../../../src/tools/schema.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { DiffView } from '../../components/diff-view.tsx';
import { ErrorNotice } from '../../components/error-notice.tsx';
import { TextField } from '../../components/field.tsx';
import { useNotify } from '../../components/toasts.tsx';
import { useApi } from '../../lib/api/client.ts';
import { modelIdsQuery } from '../../lib/api/model-ids.ts';
import { gatewayUrl } from '../../lib/base-path.ts';
import type { Tool, ToolChange } from './queries.ts';

/** Points a tool at this gateway: shows exactly what would be written, writes it, and takes it back. */
export function ToolSetup({ tool, settings }: { tool: Tool; settings: ToolSettings }) {
  const { t } = useTranslation('cliCommon');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [address, setAddress] = useState(gatewayUrl());
  const [model, setModel] = useState(settings.model ?? '');
  const [key, setKey] = useState('');
  const [restoring, setRestoring] = useState(false);
  const models = useQuery(modelIdsQuery(api)).data?.resources ?? [];
  const path = tool.settings_href ?? '';
  const input = {
    base_url: address,
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    ...(key.trim() === '' ? {} : { api_key: key.trim() }),
  };
  const preview = useMutation({
    mutationFn: () => api.post<ToolChange>(path, { ...input, dry_run: true }),
  });
  const refresh = async () => {
    await queries.invalidateQueries({ queryKey: ['tools'] });
    await queries.invalidateQueries({ queryKey: ['tool-settings', tool.id] });
  };
  const apply = useMutation({
    mutationFn: () => api.post<ToolChange>(path, input),
    onSuccess: async () => {
      preview.reset();
      await refresh();
      notify(t('detail.applied', { name: tool.name }));
    },
  });
  const changed =
    (set: (value: string) => void) =>
    ({ target }: { target: { value: string } }) => {
      set(target.value);
      preview.reset();
    };
  const error = preview.error ?? apply.error;
  return (
    <div className="flex flex-col gap-4">
      <form
        className="grid gap-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault();
          preview.mutate();
        }}
      >
        <TextField label={t('detail.baseUrlLabel')} value={address} onChange={changed(setAddress)} required />
        <TextField
          label={t('detail.modelLabel')}
          hint={t('detail.modelHint')}
          list="tool-models"
          value={model}
          onChange={changed(setModel)}
          required={settings.model_required}
        />
        <datalist id="tool-models">
          {models.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        {settings.key_in_file ? (
          <TextField
            label={t('detail.apiKeyLabel')}
            hint={t('detail.apiKeyHint')}
            type="password"
            autoComplete="off"
            value={key}
            onChange={changed(setKey)}
          />
        ) : (
          <p className="self-end text-muted">
            {t('detail.apiKeyVariable', { variable: settings.key_variable ?? '' })}
          </p>
        )}
        <div className="flex items-end gap-2">
          <Button type="submit" busy={preview.isPending}>
            {t('detail.preview')}
          </Button>
          {settings.last_configured_at !== null && (
            <Button variant="danger" onClick={() => setRestoring(true)}>
              {t('detail.reset')}
            </Button>
          )}
        </div>
      </form>
      {error !== null && <ErrorNotice error={error} />}
      {preview.data !== undefined &&
        (preview.data.changed ? (
          <div className="flex flex-col gap-3">
            <p className="text-muted">{t('detail.willWrite', { path: preview.data.path ?? '' })}</p>
            <DiffView diff={preview.data.diff} />
            <div>
              <Button variant="primary" busy={apply.isPending} onClick={() => apply.mutate()}>
                {t('detail.apply')}
              </Button>
            </div>
          </div>
        ) : (
          <p>{t('detail.nothingToWrite')}</p>
        ))}
      {apply.data?.steps !== undefined && (
        <ul className="list-disc ps-5">
          {apply.data.steps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ul>
      )}
      <ConfirmDialog
        open={restoring}
        onClose={() => setRestoring(false)}
        title={t('detail.resetTitle', { name: tool.name })}
        confirm={t('detail.reset')}
        onConfirm={async () => {
          await api.remove(path);
          await refresh();
        }}
      >
        {t('detail.resetWhat')}
      </ConfirmDialog>
    </div>
  );
}
