import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { z } from 'zod';
import { keyName } from '../../../../src/access/keys/name-schema.ts';
import { SelectField, TextAreaField, TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { SaveProblem } from '../../components/dialogs/save-problem.tsx';
import { useChange } from '../../lib/api/change.ts';
import { useApi } from '../../lib/api/client.ts';
import type { Key } from './queries.ts';

const amount = z
  .string()
  .trim()
  .regex(/^(\d+([.,]\d+)?)?$/);
const count = z.string().trim().regex(/^\d*$/);

const schema = z.object({
  name: keyName,
  models: z.string(),
  expires: z.string(),
  budget: amount,
  period: z.enum(['day', 'week', 'month']),
  unpriced: z.enum(['refuse', 'allow']),
  rpm: count,
  tpm: count,
  owner: z.string().trim().max(100),
  team: z.string().trim().max(100),
  labels: z.string().refine((text) => labelsIn(text).every((pair) => pair.length === 2)),
});

type Values = z.infer<typeof schema>;

export interface NewKey {
  name: string;
  /** The text, which is shown this once. */
  key: string;
}

interface KeyFormProps {
  /** The key to change; null makes one. */
  editing: Key | null;
  onClose(): void;
  onCreated(key: NewKey): void;
  /** Begins the form again with the key as somebody else has left it. */
  onReload(key: Key): void;
}

/** Makes a key with its models, expiry, budget, rates, owner and labels, or changes one. */
export function KeyForm({ editing, onClose, onCreated, onReload }: KeyFormProps) {
  const { t } = useTranslation('keys');
  const api = useApi();
  const queries = useQueryClient();
  const edit = useChange('keys', fieldsOf);
  const { formState, handleSubmit, register } = useForm<Values>({
    resolver: zodResolver(schema),
    defaultValues: valuesOf(editing),
  });
  const create = useMutation({
    mutationFn: async (values: Values): Promise<NewKey | null> => {
      if (editing === null) {
        const { results } = await api.post<{ results: (Key & NewKey)[] }>('keys', present(bodyOf(values)));
        return results[0] ?? null;
      }
      await edit.send(editing, changesOf(fieldsOf(editing), bodyOf(values)));
      return null;
    },
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['keys'] });
      await queries.invalidateQueries({ queryKey: ['budgets'] });
      if (made === null) onClose();
      else onCreated(made);
    },
  });
  const { errors } = formState;
  return (
    <FormDialog
      onClose={onClose}
      title={editing === null ? t('create.title') : t('edit.title', { name: editing.name })}
      submit={editing === null ? t('create.submit') : t('edit.submit')}
      busy={create.isPending}
      noValidate
      onSubmit={handleSubmit((values) => create.mutate(values))}
    >
      <TextField
        label={t('field.name')}
        hint={t('field.nameHint')}
        error={errors.name?.message}
        autoFocus
        required
        {...register('name')}
      />
      <TextAreaField
        label={t('field.models')}
        hint={t('field.modelsHint')}
        rows={2}
        {...register('models')}
      />
      <div className="grid grid-cols-2 gap-4">
        <TextField
          label={t('field.budget')}
          inputMode="decimal"
          error={errors.budget && t('field.amountWrong')}
          {...register('budget')}
        />
        <SelectField
          label={t('field.period')}
          choices={(['day', 'week', 'month'] as const).map((value) => ({
            value,
            label: t(`period.${value}`),
          }))}
          {...register('period')}
        />
        <TextField
          label={t('field.rpm')}
          inputMode="numeric"
          error={errors.rpm && t('field.countWrong')}
          {...register('rpm')}
        />
        <TextField
          label={t('field.tpm')}
          inputMode="numeric"
          error={errors.tpm && t('field.countWrong')}
          {...register('tpm')}
        />
      </div>
      <details className="rounded-md border border-line px-3 py-2" open={hasMore(editing)}>
        <summary className="font-medium">{t('field.more')}</summary>
        <div className="mt-3 grid gap-4 sm:grid-cols-2">
          <TextField label={t('field.team')} {...register('team')} />
          <TextField label={t('field.owner')} hint={t('field.ownerHint')} {...register('owner')} />
          <TextField
            label={t('field.labels')}
            hint={t('field.labelsHint')}
            error={errors.labels && t('field.labelsWrong')}
            {...register('labels')}
          />
          <SelectField
            label={t('field.unpriced')}
            hint={t('field.unpricedHint')}
            choices={(['refuse', 'allow'] as const).map((value) => ({
              value,
              label: t(`unpriced.${value}`),
            }))}
            {...register('unpriced')}
          />
        </div>
      </details>
      <TextField
        label={t('field.expires')}
        hint={t('field.expiresHint')}
        type="date"
        {...register('expires')}
      />
      {create.isError && (
        <SaveProblem
          error={create.error}
          edit={edit}
          labels={{
            name: t('field.name'),
            models: t('field.models'),
            expires_at: t('field.expires'),
            budget_usd: t('field.budget'),
            budget_period: t('field.period'),
            budget_unpriced: t('field.unpriced'),
            rpm: t('field.rpm'),
            tpm: t('field.tpm'),
            owner: t('field.owner'),
            team: t('field.team'),
            labels: t('field.labels'),
          }}
          onReload={onReload}
          onKeep={handleSubmit((values) => create.mutate(values))}
        />
      )}
    </FormDialog>
  );
}

function valuesOf(key: Key | null): Values {
  const text = (value: number | string | null | undefined) => String(value ?? '');
  const { budget_period: period = null } = key ?? {};
  return {
    name: key?.name ?? '',
    models: key?.models?.join(', ') ?? '',
    expires: text(key?.expires_at).slice(0, 10),
    budget: text(key?.budget_usd),
    period: period === 'day' || period === 'week' ? period : 'month',
    unpriced: key?.budget_unpriced ?? 'refuse',
    rpm: text(key?.rpm),
    tpm: text(key?.tpm),
    owner: text(key?.owner),
    team: text(key?.team),
    labels: Object.entries(key?.labels ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
  };
}

function hasMore(key: Key | null): boolean {
  if (key === null) return false;
  return key.team !== null || key.owner !== null || Object.keys(key.labels).length > 0;
}

type Body = Record<string, unknown>;

/** The fields of the form as the API has them; null for what was left empty. */
function bodyOf({
  budget,
  expires,
  labels,
  models,
  name,
  owner,
  period,
  rpm,
  team,
  tpm,
  unpriced,
}: Values): Body {
  const names = models.split(/[\s,]+/).filter((one) => one !== '');
  const amount = budget === '' ? null : Number(budget.replace(',', '.'));
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim());
  return {
    name,
    models: names.length > 0 ? names : null,
    expires_at: orNull(expires),
    budget_usd: amount,
    budget_period: amount === null ? null : period,
    budget_unpriced: amount === null ? null : unpriced,
    rpm: rpm === '' ? null : Number(rpm),
    tpm: tpm === '' ? null : Number(tpm),
    owner: orNull(owner),
    team: orNull(team),
    labels: Object.fromEntries(labelsIn(labels)),
  };
}

const fieldsOf = (key: Key): Body => bodyOf(valuesOf(key));

/** Names and values; what is no pair has another length than two. */
function labelsIn(text: string): string[][] {
  return text
    .split(',')
    .filter((one) => one.trim() !== '')
    .map((one) => one.split('=').map((part) => part.trim()))
    .map((pair) => pair.filter((part) => part !== ''));
}

/** Without what was left empty. */
function present(body: Body): Body {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}

/** Only what was changed; what belongs to a budget goes with its amount. */
function changesOf(before: Body, after: Body): Body {
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  );
  if (!changed.some(([name]) => name.startsWith('budget_'))) return Object.fromEntries(changed);
  if (after['budget_usd'] === null)
    return {
      ...Object.fromEntries(changed.filter(([name]) => !name.startsWith('budget_'))),
      budget_usd: null,
    };
  return Object.fromEntries(changed);
}
