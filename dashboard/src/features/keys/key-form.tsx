import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { z } from 'zod';
import { keyName } from '../../../../src/access/schema.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorNotice } from '../../components/error-notice.tsx';
import { SelectField, TextAreaField, TextField } from '../../components/field.tsx';
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
  rpm: count,
  tpm: count,
});

type Values = z.infer<typeof schema>;

export interface NewKey {
  name: string;
  /** The text, which is shown this once. */
  key: string;
}

interface KeyFormProps {
  onClose(): void;
  onCreated(key: NewKey): void;
}

/** Makes a key with its models, expiry, budget and rates. */
export function KeyForm({ onClose, onCreated }: KeyFormProps) {
  const { t } = useTranslation('keys');
  const api = useApi();
  const queries = useQueryClient();
  const { formState, handleSubmit, register } = useForm<Values>({
    resolver: zodResolver(schema),
    defaultValues: { name: '', models: '', expires: '', budget: '', period: 'month', rpm: '', tpm: '' },
  });
  const create = useMutation({
    mutationFn: (values: Values) => api.post<{ results: (Key & NewKey)[] }>('keys', bodyOf(values)),
    onSuccess: async ({ results: [made] }) => {
      await queries.invalidateQueries({ queryKey: ['keys'] });
      if (made !== undefined) onCreated(made);
    },
  });
  const { errors } = formState;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('create.title')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button type="submit" form="key-form" variant="primary" busy={create.isPending}>
            {t('create.submit')}
          </Button>
        </>
      }
    >
      <form
        id="key-form"
        noValidate
        className="flex flex-col gap-4 pb-3"
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
        <TextField
          label={t('field.expires')}
          hint={t('field.expiresHint')}
          type="date"
          {...register('expires')}
        />
        {create.isError && <ErrorNotice error={create.error} />}
      </form>
    </Dialog>
  );
}

/** The members that were filled in, as the API takes them. */
function bodyOf({ budget, expires, models, name, period, rpm, tpm }: Values): object {
  const names = models.split(/[\s,]+/).filter((one) => one !== '');
  return {
    name,
    ...(names.length > 0 ? { models: names } : {}),
    ...(expires === '' ? {} : { expires_at: expires }),
    ...(budget === '' ? {} : { budget_usd: Number(budget.replace(',', '.')), budget_period: period }),
    ...(rpm === '' ? {} : { rpm: Number(rpm) }),
    ...(tpm === '' ? {} : { tpm: Number(tpm) }),
  };
}
