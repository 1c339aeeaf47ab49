import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Pencil, Undo2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { Reopened } from '../../components/dialogs/reopened.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useUndo } from '../../components/dialogs/undo.ts';
import { StatusBadge } from '../../components/figures/status-badge.tsx';
import { unlessChanged } from '../../lib/api/change.ts';
import { allows, useApi } from '../../lib/api/client.ts';
import { bytes, duration } from '../../lib/format/numbers.ts';
import type { Setting } from './queries.ts';
import { SettingForm } from './setting-form.tsx';

/** Settings with what is in force, where that comes from, and what may be changed of it. */
export function SettingList({ settings }: { settings: readonly Setting[] }) {
  const [editing, setEditing] = useState<Setting | null>(null);
  return (
    <>
      <ul>
        {settings.map((setting) => (
          <SettingLine key={setting.id} setting={setting} onEdit={() => setEditing(setting)} />
        ))}
      </ul>
      {editing !== null && (
        <Reopened row={editing}>
          {(setting, reopen) => (
            <SettingForm setting={setting} onClose={() => setEditing(null)} onReload={reopen} />
          )}
        </Reopened>
      )}
    </>
  );
}

/** What `config.json` has of a setting, which is what can be changed. */
const inFile = ({ configured, in_file }: Setting) => ({ value: in_file ? configured : null });

function SettingLine({ setting, onEdit }: { setting: Setting; onEdit(): void }) {
  const { t } = useTranslation('settings');
  const { editable, name, restart_required, source, value } = setting;
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const undo = useUndo('settings', inFile);
  const reset = useMutation({
    mutationFn: () => {
      const path = `settings/${encodeURIComponent(setting.id)}`;
      return unlessChanged(
        api,
        path,
        { seen: setting, change: { value: null }, fieldsOf: inFile },
        (headers) => api.post<{ message: string }>(path, { action: 'reset' }, { headers }),
      );
    },
    onSuccess: (done) => {
      if (done.stale !== null) return notify(t('common:stale.title'));
      // What stood there can be put back.
      notify(done.result.message, undo({ ...setting, in_file: false }, { value: setting.configured }));
    },
    onError: (error) => notify(error.message),
    onSettled: () => queries.invalidateQueries({ queryKey: ['settings'] }),
  });
  return (
    <li
      data-setting={name}
      className="grid grid-cols-[1fr_auto] items-start gap-x-4 gap-y-1 border-line border-b px-4 py-2.5 last:border-b-0 md:grid-cols-[minmax(14rem,2fr)_3fr_4.5rem]"
    >
      <div className="min-w-0">
        <p className="font-medium [overflow-wrap:anywhere]">{name}</p>
        <p className="text-muted text-xs">{t(`describe.${name}`)}</p>
      </div>
      <div className="min-w-0 max-md:order-3 max-md:col-span-2">
        <SettingValue name={name} value={value} />
        <p className="mt-1 flex flex-wrap items-center gap-2 text-muted text-xs">
          {t(`source.${source}`)}
          {restart_required && (
            <StatusBadge tone="warn">
              {t('afterRestart', { value: shortText(setting.configured) ?? t('default') })}
            </StatusBadge>
          )}
        </p>
      </div>
      <div className="flex justify-end gap-1">
        {editable && allows(setting, 'edit') && (
          <IconButton icon={Pencil} label={t('edit', { name })} onClick={onEdit} />
        )}
        {allows(setting, 'reset') && (
          <IconButton
            icon={Undo2}
            label={t('reset', { name })}
            disabled={reset.isPending}
            onClick={() => reset.mutate()}
          />
        )}
      </div>
    </li>
  );
}

function SettingValue({ name, value }: { name: string; value: unknown }) {
  const { t, i18n } = useTranslation('settings');
  const text = shortText(value);
  if (text === null) return <span className="text-muted">{t('none')}</span>;
  const figure = typeof value === 'number' ? withUnit(name, value, i18n.language) : null;
  return (
    <>
      <code className="text-xs [overflow-wrap:anywhere]">{text}</code>
      {figure !== null && <span className="ml-2 text-muted text-xs">{figure}</span>}
    </>
  );
}

/** A figure as people say it, by the unit in which the setting's name ends: 67108864 bytes are 67.1 MB. */
function withUnit(name: string, value: number, locale: string): string | null {
  if (name.endsWith('_bytes')) return value < 1000 ? null : bytes(value, locale);
  if (name.endsWith('_ms')) return value < 1000 ? null : duration(value, locale);
  if (name.endsWith('_seconds')) return value < 60 ? null : duration(value * 1000, locale);
  return null;
}

/** A value on one line; null where there is none. */
function shortText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value) && value.length === 0) return null;
  if (typeof value === 'object') return Object.keys(value).length === 0 ? null : JSON.stringify(value);
  return String(value);
}
