import { zodResolver } from '@hookform/resolvers/zod';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useForm } from 'react-hook-form';
import { useTranslation } from 'react-i18next';
import { z } from 'zod';
import { budgetMetric, budgetPeriod, budgetScope } from '../../../../src/budgets/schema.ts';
import { SelectField, TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { SaveProblem } from '../../components/dialogs/save-problem.tsx';
import { useNotify } from '../../components/dialogs/toasts.tsx';
import { useUndo } from '../../components/dialogs/undo.ts';
import { type Fields, useChange } from '../../lib/api/change.ts';
import { useApi } from '../../lib/api/client.ts';
import { scopeName } from './columns.tsx';
import { type Budget, fieldsOfBudget, subjectsQuery } from './queries.ts';

const schema = z
  .object({
    scope: budgetScope,
    subject: z.string().trim(),
    metric: budgetMetric,
    limit: z
      .string()
      .trim()
      .regex(/^\d+([.,]\d+)?$/, 'amount')
      .refine((text) => Number(text.replace(',', '.')) > 0, 'amount'),
    period: budgetPeriod,
    soft: z
      .string()
      .trim()
      .regex(/^(100|[1-9]\d?)?$/, 'percent'),
    unpriced: z.enum(['allow', 'refuse']),
  })
  .refine(({ scope, subject }) => scope === 'global' || subject !== '', {
    path: ['subject'],
    error: 'subject',
  });

type Values = z.infer<typeof schema>;

interface BudgetFormProps {
  /** The budget to change; null for a new one. */
  budget: Budget | null;
  onClose(): void;
  /** Begins the form again with the budget as somebody else has left it. */
  onReload(budget: Budget): void;
}

/** Makes a budget, or changes its limit, its warning and what happens to models without a price. */
export function BudgetForm({ budget, onClose, onReload }: BudgetFormProps) {
  const { t } = useTranslation('budgets');
  const api = useApi();
  const queries = useQueryClient();
  const notify = useNotify();
  const edit = useChange('budgets', fieldsOfBudget);
  const undo = useUndo('budgets', fieldsOfBudget);
  const { formState, handleSubmit, register, watch } = useForm<Values>({
    resolver: zodResolver(schema),
    defaultValues: {
      scope: budget?.scope ?? 'global',
      subject: budget?.subject_name ?? budget?.subject ?? '',
      metric: budget?.metric ?? 'usd',
      limit: budget === null ? '' : String(budget.limit),
      period: budget?.period ?? 'month',
      soft: budget === null ? '80' : String(budget.soft_percent ?? ''),
      unpriced: budget?.unpriced ?? 'refuse',
    },
  });
  const [scope, metric] = [watch('scope'), watch('metric')];
  const subjects = useQuery(subjectsQuery(api, scope)).data ?? [];
  const save = useMutation({
    mutationFn: async (values: Values) => {
      if (budget === null) {
        await api.post('budgets', newBody(values));
        return null;
      }
      const change = changesOf(budget, values);
      const before: Fields = fieldsOfBudget(edit.stale?.theirs ?? budget);
      const saved = await edit.send(budget, change);
      return {
        saved,
        former: Object.fromEntries(Object.keys(change).map((field) => [field, before[field]])),
      };
    },
    onSuccess: async (done) => {
      await queries.invalidateQueries({ queryKey: ['budgets'] });
      onClose();
      if (budget === null || done === null) return;
      notify(t('changed', { name: scopeName(t, budget) }), undo(done.saved, done.former));
    },
  });
  const { errors } = formState;
  return (
    <FormDialog
      onClose={onClose}
      title={budget === null ? t('form.create') : t('form.edit', { name: scopeName(t, budget) })}
      submit={budget === null ? t('form.submit') : t('form.save')}
      busy={save.isPending}
      noValidate
      onSubmit={handleSubmit((values) => save.mutate(values))}
    >
      {budget === null && (
        <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
          <SelectField
            label={t('form.scope')}
            choices={budgetScope.options.map((value) => ({ value, label: t(`scope.${value}`) }))}
            {...register('scope')}
          />
          {scope !== 'global' && (
            <TextField
              label={t('form.subject')}
              required
              list="budget-subjects"
              autoComplete="off"
              error={errors.subject && t('form.subjectMissing')}
              {...register('subject')}
            />
          )}
          <datalist id="budget-subjects">
            {subjects.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </div>
      )}
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        {budget === null && (
          <SelectField
            label={t('form.metric')}
            choices={budgetMetric.options.map((value) => ({ value, label: t(`metricName.${value}`) }))}
            {...register('metric')}
          />
        )}
        <TextField
          label={t('form.limit', { unit: t(`metric.${metric}`) })}
          inputMode="decimal"
          required
          error={errors.limit && t('form.limitWrong')}
          {...register('limit')}
        />
        {budget === null && metric !== 'concurrency' && (
          <SelectField
            label={t('form.period')}
            hint={t('form.periodHint')}
            choices={budgetPeriod.options.map((value) => ({ value, label: t(`periodName.${value}`) }))}
            {...register('period')}
          />
        )}
        <TextField
          label={t('form.soft')}
          hint={t('form.softHint')}
          inputMode="numeric"
          error={errors.soft && t('form.softWrong')}
          {...register('soft')}
        />
      </div>
      {metric === 'usd' && (
        <SelectField
          label={t('form.unpriced')}
          choices={(['refuse', 'allow'] as const).map((value) => ({
            value,
            label: t(`unpriced.${value}`),
          }))}
          {...register('unpriced')}
        />
      )}
      {save.isError && (
        <SaveProblem
          error={save.error}
          edit={edit}
          labels={{
            limit: t('form.limit', { unit: t(`metric.${metric}`) }),
            soft_percent: t('form.soft'),
            unpriced: t('form.unpriced'),
          }}
          onReload={onReload}
          onKeep={handleSubmit((values) => save.mutate(values))}
        />
      )}
    </FormDialog>
  );
}

/** Only what differs from what was read. */
function changesOf(budget: Budget, values: Values) {
  const before: Record<string, unknown> = fieldsOfBudget(budget);
  return Object.fromEntries(
    Object.entries(changeBody(values)).filter(([field, value]) => value !== before[field]),
  );
}

function changeBody({ limit, metric, soft, unpriced }: Values) {
  return {
    limit: Number(limit.replace(',', '.')),
    soft_percent: soft === '' ? null : Number(soft),
    ...(metric === 'usd' ? { unpriced } : {}),
  };
}

function newBody(values: Values) {
  const { metric, period, scope, subject } = values;
  return {
    scope,
    ...(scope === 'global' ? {} : { subject }),
    metric,
    ...(metric === 'concurrency' ? {} : { period }),
    ...changeBody(values),
  };
}
