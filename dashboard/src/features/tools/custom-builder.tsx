import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { SelectField, TextAreaField, TextField } from '../../components/controls/field.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';

const apis = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;
const formats = ['json', 'jsonc', 'yaml', 'toml', 'env'] as const;

const empty = {
  id: '',
  name: '',
  binaries: '',
  api: 'openai-chat',
  environment: 'OPENAI_BASE_URL=<base_url>\nOPENAI_API_KEY=<api_key>',
  path: '',
  format: 'json',
  settings: '',
};

/** Describes a tool that the catalog does not have. Afterwards it is found, set up and restored as the others. */
export function CustomBuilder() {
  const { t } = useTranslation('cliCommon');
  const api = useApi();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [fields, setFields] = useState(empty);
  const control = (name: keyof typeof empty) => ({
    value: fields[name],
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value }),
  });
  const add = useMutation({
    mutationFn: () => api.post('tools', describedTool(fields)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['tools'] });
      await navigate({ to: '/cli-code/$toolId', params: { toolId: fields.id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <form className="flex flex-col gap-4" onSubmit={submit}>
      <p className="text-muted">{t('builder.about')}</p>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t('builder.id')} hint={t('builder.idHint')} required {...control('id')} />
        <TextField label={t('builder.name')} required {...control('name')} />
        <TextField label={t('builder.binaries')} hint={t('builder.binariesHint')} {...control('binaries')} />
        <SelectField
          label={t('builder.api')}
          hint={t('builder.apiHint')}
          choices={apis.map((value) => ({ value, label: value }))}
          {...control('api')}
        />
      </div>
      <TextAreaField
        label={t('builder.environment')}
        hint={t('builder.environmentHint')}
        className="font-mono"
        {...control('environment')}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField label={t('builder.path')} hint={t('builder.pathHint')} {...control('path')} />
        <SelectField
          label={t('builder.format')}
          choices={formats.map((value) => ({ value, label: value }))}
          {...control('format')}
        />
      </div>
      {fields.path.trim() !== '' && (
        <TextAreaField
          label={t('builder.settings')}
          hint={t('builder.settingsHint')}
          className="font-mono"
          required
          {...control('settings')}
        />
      )}
      {add.isError && <ErrorNotice error={add.error} />}
      <div>
        <Button type="submit" variant="primary" busy={add.isPending}>
          {t('builder.submit')}
        </Button>
      </div>
    </form>
  );
}

/** As the API takes it; what is wrong with it says the API, by field. */
function describedTool({
  api,
  binaries,
  environment,
  format,
  id,
  name,
  path,
  settings,
}: typeof empty): object {
  const programs = binaries.split(/[\s,]+/).filter((one) => one !== '');
  const variables = pairsIn(environment);
  return {
    id: id.trim(),
    name: name.trim(),
    binaries: programs.length === 0 ? [id.trim()] : programs,
    api,
    ...(variables.length === 0 ? {} : { environment: Object.fromEntries(variables) }),
    ...(path.trim() === ''
      ? {}
      : {
          file: {
            path: path.trim(),
            format,
            settings: pairsIn(settings).map(([entry, value]) => ({ path: entry.split('.'), value })),
          },
        }),
  };
}

/** Lines of `NAME=VALUE`; one without an equals sign has an empty value, which the API refuses by name. */
function pairsIn(text: string): [string, string][] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    });
}
