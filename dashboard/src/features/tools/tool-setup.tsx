import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ToolSettings } from '../../../../src/tools/schema.ts';
import { Button } from '../../components/controls/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/confirm-dialog.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { filled } from '../../components/text/by-hand.tsx';
import { DiffView } from '../../components/text/diff-view.tsx';
import { useApi } from '../../lib/api/client.ts';
import type { Tool, ToolChange } from './queries.ts';
import { type Setup, SetupFields } from './setup-fields.tsx';

interface ToolSetupProps {
  tool: Tool;
  settings: ToolSettings;
  setup: Setup;
  onSetup(setup: Setup): void;
}

/** Points a tool at this gateway: shows exactly what would be written, writes it, and takes it back. */
export function ToolSetup({ onSetup, settings, setup, tool }: ToolSetupProps) {
  const { t } = useTranslation('cliCommon');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const [restoring, setRestoring] = useState(false);
  const { address, key, model } = setup;
  const path = tool.settings_href ?? '';
  const input = {
    base_url: address,
    ...(model.trim() === '' ? {} : { model: model.trim() }),
    // A tool that reads its key from a variable gets none of it into its file.
    ...(key.trim() === '' || !settings.key_in_file ? {} : { api_key: key.trim() }),
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
        <SetupFields
          toolId={tool.id}
          setup={setup}
          onSetup={(next) => {
            onSetup(next);
            preview.reset();
          }}
          modelRequired={settings.model_required}
          keyHint={
            settings.key_in_file
              ? t('detail.apiKeyHint')
              : t('detail.apiKeyVariable', { variable: settings.key_variable ?? '' })
          }
        />
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
      {apply.data?.steps !== undefined && apply.data.steps.length > 0 && (
        <ul className="list-disc ps-5">
          {tool.by_hand.steps.map((step) => (
            <li key={step}>
              {filled(step, tool, { root: address, apiKey: key || null, model: model || null })}
            </li>
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
