import type { TFunction } from 'i18next';
import { Braces, Brain, Image, type LucideIcon, Wrench } from 'lucide-react';
import { Count, Money } from '../../components/figures/amounts.tsx';
import type { Column } from '../../components/tables/data-table.tsx';
import { RowName } from '../../components/tables/row-name.tsx';
import { isAble, type Model } from './queries.ts';
import { type Ability, abilities } from './search.ts';

const icons: Readonly<Record<Ability, LucideIcon>> = {
  tools: Wrench,
  reasoning: Brain,
  images: Image,
  structured: Braces,
};

export function modelColumns(t: TFunction<'models'>): readonly Column<Model>[] {
  return [
    {
      id: 'id',
      header: t('column.id'),
      cell: ({ id, kind }) => (
        <RowName className="max-sm:max-w-56" title={id}>
          <span className="font-medium">{id}</span>
          {kind !== 'model' && <span className="ms-2 text-muted text-xs">{t(`kind.${kind}`)}</span>}
        </RowName>
      ),
      sortBy: ({ id }) => id.toLowerCase(),
      narrow: true,
    },
    {
      id: 'connection',
      header: t('column.connection'),
      cell: ({ connection }) => connection ?? '–',
      sortBy: ({ connection }) => connection,
    },
    {
      id: 'context_window',
      header: t('column.context'),
      cell: ({ context_window }) => <Count value={context_window} unknown={t('unknown')} />,
      sortBy: ({ context_window }) => context_window,
      align: 'end',
    },
    {
      id: 'output_limit',
      header: t('column.output'),
      cell: ({ output_limit }) => <Count value={output_limit} unknown={t('unknown')} />,
      sortBy: ({ output_limit }) => output_limit,
      align: 'end',
      hidden: true,
    },
    {
      id: 'input_usd',
      header: t('column.inputPrice'),
      cell: ({ input_usd }) => <Money value={input_usd} />,
      sortBy: ({ input_usd }) => input_usd,
      align: 'end',
      narrow: true,
    },
    {
      id: 'output_usd',
      header: t('column.outputPrice'),
      cell: ({ output_usd }) => <Money value={output_usd} />,
      sortBy: ({ output_usd }) => output_usd,
      align: 'end',
    },
    {
      id: 'abilities',
      header: t('column.abilities'),
      cell: (model) => <Abilities model={model} t={t} />,
    },
    {
      id: 'released',
      header: t('column.released'),
      cell: ({ released }) => released ?? '–',
      sortBy: ({ released }) => released,
      hidden: true,
    },
  ];
}

/** What a model can do, as icons with their names. */
export function Abilities({ model, t }: { model: Model; t: TFunction<'models'> }) {
  const able = abilities.filter((ability) => isAble(model, ability) === true);
  if (able.length === 0) return <span className="text-muted">–</span>;
  return (
    <span className="flex gap-1.5 text-muted">
      {able.map((ability) => {
        const Icon = icons[ability];
        return (
          <span key={ability} role="img" aria-label={t(`ability.${ability}`)} title={t(`ability.${ability}`)}>
            <Icon size={15} aria-hidden />
          </span>
        );
      })}
    </span>
  );
}
