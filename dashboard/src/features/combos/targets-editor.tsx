import { ArrowDown, ArrowUp, GripVertical, Trash2 } from 'lucide-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { classNames } from '../../components/layout/class-names.ts';
import type { TargetFacts } from './target-facts.ts';
import { TargetBadge, TargetFigures } from './target-row.tsx';

export interface EditedTarget {
  target: string;
  weight: number;
}

interface TargetsEditorProps {
  targets: readonly EditedTarget[];
  onChange(targets: readonly EditedTarget[]): void;
  /** Whether each has a share of its own. */
  weighted: boolean;
  factsOf(target: string): TargetFacts;
}

/** The targets of a combo in order: dragged by their handles, moved by arrow keys and by buttons. */
export function TargetsEditor({ factsOf, onChange, targets, weighted }: TargetsEditorProps) {
  const { t } = useTranslation('combos');
  const [dragged, setDragged] = useState<number | null>(null);
  const list = useRef<HTMLOListElement>(null);
  const [spoken, setSpoken] = useState('');
  const move = (from: number, to: number) => {
    const moved = targets[from];
    if (moved === undefined || to < 0 || to >= targets.length) return;
    onChange(targets.toSpliced(from, 1).toSpliced(to, 0, moved));
    setSpoken(t('form.moved', { target: moved.target, place: to + 1, count: targets.length }));
  };
  const onKey = (event: KeyboardEvent, index: number) => {
    const step = event.key === 'ArrowUp' ? -1 : event.key === 'ArrowDown' ? 1 : 0;
    if (step === 0) return;
    event.preventDefault();
    move(index, index + step);
    // The focus goes with the row, which stands in another place once it is drawn.
    requestAnimationFrame(() => {
      list.current?.querySelectorAll<HTMLElement>('[data-handle]')[index + step]?.focus();
    });
  };
  return (
    <>
      <ol ref={list} className="flex flex-col gap-1" aria-label={t('form.targets')}>
        {targets.map(({ target, weight }, index) => {
          const facts = factsOf(target);
          return (
            <li
              key={target}
              data-target={target}
              draggable
              onDragStart={(event) => {
                event.dataTransfer.effectAllowed = 'move';
                event.dataTransfer.setData('text/plain', target);
                setDragged(index);
              }}
              onDragOver={(event) => {
                if (dragged === null) return;
                event.preventDefault();
                if (dragged !== index) {
                  move(dragged, index);
                  setDragged(index);
                }
              }}
              onDrop={(event) => event.preventDefault()}
              onDragEnd={() => setDragged(null)}
              className={classNames(
                'flex items-center gap-1 rounded-md border border-line bg-panel py-1',
                dragged === index && 'opacity-55',
              )}
            >
              <button
                type="button"
                data-handle
                aria-label={t('form.handle', { target })}
                title={t('form.handleHint')}
                onKeyDown={(event) => onKey(event, index)}
                className="inline-flex size-8 shrink-0 cursor-grab items-center justify-center rounded-md text-muted hover:bg-sunken"
              >
                <GripVertical size={16} aria-hidden />
              </button>
              <div className="min-w-0 flex-1">
                <div className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
                  <span className="nums text-muted">{index + 1}.</span>
                  <span className="min-w-0 [overflow-wrap:anywhere]">{target}</span>
                  <TargetBadge facts={facts} problem={null} />
                </div>
                <TargetFigures facts={facts} />
              </div>
              {weighted && (
                <input
                  type="number"
                  min={0}
                  max={1000}
                  step="any"
                  aria-label={t('form.weight', { target })}
                  title={t('form.weight', { target })}
                  value={weight}
                  onChange={(event) =>
                    onChange(
                      targets.with(index, { target, weight: Math.max(0, event.target.valueAsNumber || 0) }),
                    )
                  }
                  className="nums min-h-8 w-16 rounded-md border border-line bg-panel px-2"
                />
              )}
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
                onClick={() => onChange(targets.toSpliced(index, 1))}
              />
            </li>
          );
        })}
      </ol>
      <p role="status" className="sr-only">
        {spoken}
      </p>
    </>
  );
}
