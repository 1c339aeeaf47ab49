import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SelectField, TextAreaField, TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { SaveProblem } from '../../components/dialogs/save-problem.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useChange } from '../../lib/api/change.ts';
import { inputOf, parseSetting, textOf } from './allowed.ts';
import type { Setting } from './queries.ts';

interface SettingFormProps {
  setting: Setting;
  onClose(): void;
  /** Begins the form again with the setting as somebody else has left it. */
  onReload(setting: Setting): void;
}

const fieldsOf = ({ configured, in_file, value }: Setting) => ({ value: in_file ? configured : value });

/** Changes one setting in `config.json`, which holds from the next start on. */
export function SettingForm({ setting, onClose, onReload }: SettingFormProps) {
  const { t } = useTranslation('settings');
  const queries = useQueryClient();
  const notify = useNotify();
  const input = inputOf(setting);
  const edit = useChange('settings', fieldsOf);
  const [text, setText] = useState(textOf(fieldsOf(setting).value, input));
  const save = useMutation({
    mutationFn: async () => edit.send(setting, { value: parseSetting(text, input) }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['settings'] });
      notify(t('saved', { name: setting.name }));
      onClose();
    },
  });
  const common = { label: setting.name, value: text };
  return (
    <FormDialog
      onClose={onClose}
      title={t('edit', { name: setting.name })}
      description={t(`describe.${setting.name}`)}
      submit={t('save')}
      busy={save.isPending}
      onSubmit={() => save.mutate()}
    >
      {input.kind === 'choice' || input.kind === 'switch' ? (
        <SelectField
          {...common}
          onChange={(event) => setText(event.target.value)}
          choices={(input.kind === 'choice' ? input.choices : ['true', 'false']).map((value) => ({
            value,
            label: value,
          }))}
        />
      ) : input.kind === 'lines' || input.kind === 'json' ? (
        <TextAreaField
          {...common}
          rows={input.kind === 'json' ? 10 : 4}
          className="font-mono text-xs"
          spellCheck={false}
          hint={input.kind === 'lines' ? t('onePerLine') : undefined}
          onChange={(event) => setText(event.target.value)}
        />
      ) : (
        <TextField
          {...common}
          inputMode={input.kind === 'number' ? 'numeric' : 'text'}
          hint={
            input.kind === 'number' && (
              <>
                {input.min !== null && input.max !== null
                  ? t('between', { min: input.min, max: input.max })
                  : input.min !== null && t('atLeast', { min: input.min })}{' '}
                {input.mayBeNone && t('emptyIsNone')}
              </>
            )
          }
          onChange={(event) => setText(event.target.value)}
        />
      )}
      <p className="text-muted text-xs">{t('fromNextStart')}</p>
      {save.isError && (
        <SaveProblem
          error={save.error}
          edit={edit}
          labels={{ value: setting.name }}
          onReload={onReload}
          onKeep={() => save.mutate()}
        />
      )}
    </FormDialog>
  );
}
