import { classNames } from '../layout/class-names.ts';

interface ViewButtonsProps<View extends string> {
  /** What is chosen among, for readers of the screen. */
  label: string;
  value: View;
  views: readonly { value: View; label: string }[];
  onChange(view: View): void;
}

/** Chooses one of a few views of a page. */
export function ViewButtons<View extends string>({ label, value, views, onChange }: ViewButtonsProps<View>) {
  return (
    <fieldset aria-label={label} className="flex flex-wrap gap-1">
      {views.map((view) => (
        <button
          key={view.value}
          type="button"
          aria-pressed={view.value === value}
          onClick={() => onChange(view.value)}
          className={classNames(
            'min-h-8 rounded-full border px-3 text-sm',
            view.value === value
              ? 'border-accent bg-accent-soft text-accent'
              : 'border-line bg-panel hover:bg-sunken',
          )}
        >
          {view.label}
        </button>
      ))}
    </fieldset>
  );
}
