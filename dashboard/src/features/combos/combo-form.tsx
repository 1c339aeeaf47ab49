import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type StrategyName, strategyName } from '../../../../src/combos/schema.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorNotice } from '../../components/error-notice.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { useApi } from '../../lib/api/client.ts';
import { modelIdsQuery } from '../../lib/api/model-ids.ts';
import type { Combo } from './queries.ts';

/** Makes a combo, or changes one: its name, how it chooses, and its targets in order, moved by buttons. */
export function ComboForm({ combo, onClose }: { combo: Combo | null; onClose(): void }) {
  const { t } = useTranslation('combos');
  const api = useApi();
  const queries = useQueryClient();
  const models = useQuery(modelIdsQuery(api)).data?.resources ?? [];
  const [name, setName] = useState(combo?.name ?? '');
  const [strategy, setStrategy] = useState<StrategyName>(combo?.strategy ?? 'priority');
  const [targets, setTargets] = useState<readonly string[]>(combo?.targets.map(({ target }) => target) ?? []);
  const [added, setAdded] = useState('');
  const weights = new Map(combo?.targets.map(({ target, weight }) => [target, weight]));
  const save = useMutation({
    mutationFn: () => {
      const body = {
        name,
        strategy,
        targets: targets.map((target) => ({ target, weight: weights.get(target) ?? 1 })),
      };
      return combo === null
        ? api.post('combos', body)
        : api.patch(`combos/${encodeURIComponent(combo.id)}`, body);
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['combos'] });
      onClose();
    },
  });
  const move = (from: number, to: number) => {
    const next = [...targets];
    const [moved] = next.splice(from, 1);
    if (moved !== undefined) next.splice(to, 0, moved);
    setTargets(next);
  };
  const add = () => {
    const target = added.trim();
    if (target !== '' && !targets.includes(target)) setTargets([...targets, target]);
    setAdded('');
  };
  const missing =
    name.trim() === '' ? t('form.needsName') : targets.length === 0 ? t('form.needsTarget') : null;
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title={combo === null ? t('create') : t('form.edit', { name: combo.name })}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button
            variant="primary"
            busy={save.isPending}
            disabledReason={missing}
            onClick={() => save.mutate()}
          >
            {t('form.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 pb-3">
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
            onChange={(event) => setStrategy(event.target.value as StrategyName)}
            choices={strategyName.options.map((value) => ({ value, label: value }))}
          />
        </div>
        <ol className="flex flex-col gap-1" aria-label={t('form.targets')}>
          {targets.map((target, index) => (
            <li key={target} className="flex items-center gap-1 rounded-md border border-line ps-3">
              <span className="nums text-muted">{index + 1}.</span>
              <span className="min-w-0 flex-1 truncate ps-1">{target}</span>
              <IconButton
                icon={ArrowUp}
                label={t('form.up', { target })}
                disabled={index === 0}
                onClick={() => move(index, index - 1)}
              />
              <IconButton
                icon={ArrowDown}
                label={t('form.down', { target })}
                disabled={index === targets.length - 1}
                onClick={() => move(index, index + 1)}
              />
              <IconButton
                icon={Trash2}
                label={t('form.remove', { target })}
                onClick={() => setTargets(targets.filter((one) => one !== target))}
              />
            </li>
          ))}
        </ol>
        <form
          className="flex items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            add();
          }}
        >
          <div className="min-w-0 flex-1">
            <TextField
              label={t('form.target')}
              hint={t('form.targetHint')}
              list="combo-models"
              value={added}
              onChange={(event) => setAdded(event.target.value)}
            />
          </div>
          <Button type="submit" icon={Plus} className="mb-5">
            {t('form.add')}
          </Button>
        </form>
        <datalist id="combo-models">
          {models.map(({ id }) => (
            <option key={id} value={id} />
          ))}
        </datalist>
        {save.isError && <ErrorNotice error={save.error} />}
      </div>
    </Dialog>
  );
}
