import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { defaultOptions, type StrategyName } from '../../../../src/combos/combo-schema.ts';
import { strategyName } from '../../../../src/combos/schema.ts';
import { Button } from '../../components/controls/button.tsx';
import { SelectField, TextField } from '../../components/controls/field.tsx';
import { FormDialog } from '../../components/dialogs/form-dialog.tsx';
import { SaveProblem } from '../../components/dialogs/save-problem.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useChange } from '../../lib/api/change.ts';
import { useApi } from '../../lib/api/client.ts';
import { OptionsFields } from './options-fields.tsx';
import type { Combo, Simulation } from './queries.ts';
import type { useTargetFacts } from './target-facts.ts';
import { type EditedTarget, TargetsEditor } from './targets-editor.tsx';
import { WhatIf } from './what-if.tsx';

const initialOptions: Combo['options'] = {
  wait_ms: defaultOptions.waitMs,
  continue_stream: defaultOptions.continueStream,
  affinity: defaultOptions.affinity,
  max_attempts: defaultOptions.maxAttempts,
  max_elapsed_ms: defaultOptions.maxElapsedMs,
  cache: defaultOptions.cache,
  cache_ttl_seconds: null,
  prompt_cache_marks: defaultOptions.cacheMarks,
};

interface ComboFormProps {
  /** Null makes a new one. */
  combo: Combo | null;
  facts: ReturnType<typeof useTargetFacts>;
  onClose(): void;
  /** Begins the form again with the combo as somebody else has left it. */
  onReload(combo: Combo): void;
}

/** Makes a combo, or changes one: its name, how it chooses, its targets in order, and what last week would have cost with it. */
export function ComboForm({ combo, facts, onClose, onReload }: ComboFormProps) {
  const { t } = useTranslation('combos');
  const api = useApi();
  const queries = useQueryClient();
  const edit = useChange('combos', fieldsOf);
  const [name, setName] = useState(combo?.name ?? '');
  const [strategy, setStrategy] = useState<StrategyName>(combo?.strategy ?? 'priority');
  const [targets, setTargets] = useState<readonly EditedTarget[]>(
    combo?.targets.map(({ target, weight }) => ({ target, weight })) ?? [],
  );
  const [options, setOptions] = useState(combo?.options ?? initialOptions);
  const [added, setAdded] = useState('');
  const chosen = { strategy, targets, options };
  const simulate = useMutation({
    mutationFn: async () => {
      const { results } = await api.post<{ results: Simulation[] }>('simulations', {
        ...(combo === null ? {} : { combo: combo.id }),
        ...chosen,
      });
      return results[0];
    },
  });
  const save = useMutation({
    mutationFn: () =>
      combo === null
        ? api.post('combos', { name, ...chosen })
        : edit.send(combo, changesOf(combo, { name, ...chosen })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['combos'] });
      onClose();
    },
  });
  const add = () => {
    const target = added.trim();
    if (target !== '' && !targets.some((one) => one.target === target))
      setTargets([...targets, { target, weight: 1 }]);
    setAdded('');
    simulate.reset();
  };
  const needsTarget = targets.length === 0 ? t('form.needsTarget') : null;
  const missing = name.trim() === '' ? t('form.needsName') : needsTarget;
  return (
    <FormDialog
      wide
      onClose={onClose}
      title={combo === null ? t('create') : t('form.edit', { name: combo.name })}
      submit={t('form.save')}
      onSubmit={() => save.mutate()}
      busy={save.isPending}
      disabledReason={missing}
      // Its numbers are folded away, where the browser could show no sentence about them.
      noValidate
      actions={
        <Button
          className="me-auto"
          busy={simulate.isPending}
          disabledReason={needsTarget}
          onClick={() => simulate.mutate()}
        >
          {t('whatIf.run')}
        </Button>
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('form.name')}
          hint={t('form.nameHint')}
          value={name}
          onChange={(event) => setName(event.target.value)}
          autoFocus
          required
        />
        <SelectField
          label={t('form.strategy')}
          hint={t(`strategy.${strategy}`)}
          value={strategy}
          onChange={(event) => {
            setStrategy(event.target.value as StrategyName);
            simulate.reset();
          }}
          choices={strategyName.options.map((value) => ({ value, label: value }))}
        />
      </div>
      <TargetsEditor
        targets={targets}
        weighted={strategy === 'weighted'}
        factsOf={facts.of}
        onChange={(next) => {
          setTargets(next);
          simulate.reset();
        }}
      />
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <TextField
            label={t('form.target')}
            hint={t('form.targetHint')}
            list="combo-models"
            value={added}
            onChange={(event) => setAdded(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              // It would submit the form.
              event.preventDefault();
              add();
            }}
          />
        </div>
        <Button icon={Plus} className="mb-5" onClick={add}>
          {t('form.add')}
        </Button>
      </div>
      <datalist id="combo-models">
        {facts.models.map(({ id }) => (
          <option key={id} value={id} />
        ))}
      </datalist>
      <OptionsFields options={options} onChange={setOptions} />
      {simulate.data !== undefined && <WhatIf result={simulate.data} />}
      {save.isError && (
        <SaveProblem
          error={save.error}
          edit={edit}
          labels={{
            name: t('form.name'),
            strategy: t('form.strategy'),
            targets: t('form.targets'),
            options: t('options.title'),
          }}
          onReload={onReload}
          onKeep={() => save.mutate()}
        />
      )}
      {!save.isError && simulate.isError && <ErrorNotice error={simulate.error} />}
    </FormDialog>
  );
}

type Fields = Pick<Combo, 'name' | 'strategy' | 'options'> & { targets: readonly EditedTarget[] };

function fieldsOf({ name, options, strategy, targets }: Combo) {
  return { name, strategy, targets: targets.map(({ target, weight }) => ({ target, weight })), options };
}

/** Only what differs from what was read. */
function changesOf(combo: Combo, fields: Fields) {
  const before: Fields = fieldsOf(combo);
  const names = ['name', 'strategy', 'targets', 'options'] as const;
  return Object.fromEntries(
    names
      .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(fields[field]))
      .map((field) => [field, fields[field]]),
  );
}
