import { type ComponentProps, type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { classNames } from '../layout/class-names.ts';

const control =
  'w-full min-h-9 rounded-md border border-line bg-panel px-2.5 py-1.5 text-sm text-text aria-invalid:border-bad';

interface FieldProps {
  label: ReactNode;
  /** What it is for, in a sentence. */
  hint?: ReactNode;
  /** What is wrong with it. */
  error?: string | undefined;
  required?: boolean | undefined;
}

/** What a control needs of its field. */
interface ControlProps {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
  required: boolean | undefined;
}

/** A label with its control, hint and error, tied together for readers of the screen. */
function Field({
  label,
  hint,
  error,
  required,
  children,
}: FieldProps & { children(control: ControlProps): ReactNode }) {
  const id = useId();
  const { t } = useTranslation();
  const described = [hint === undefined ? null : `${id}-hint`, error === undefined ? null : `${id}-error`]
    .filter((one) => one !== null)
    .join(' ');
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="font-medium text-sm">
        {label}
        {required === true && (
          <span className="ms-1 font-normal text-muted text-xs">({t('form.required')})</span>
        )}
      </label>
      {children({
        id,
        'aria-describedby': described === '' ? undefined : described,
        'aria-invalid': error === undefined ? undefined : true,
        required,
      })}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-muted text-xs">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <p id={`${id}-error`} className="text-bad text-xs" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = FieldProps & Omit<ComponentProps<'input'>, 'id' | 'required'>;

export function TextField({ label, hint, error, required, className, ...input }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} required={required}>
      {(given) => <input type="text" {...given} {...input} className={classNames(control, className)} />}
    </Field>
  );
}

type TextAreaFieldProps = FieldProps & Omit<ComponentProps<'textarea'>, 'id' | 'required'>;

export function TextAreaField({ label, hint, error, required, className, ...input }: TextAreaFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} required={required}>
      {(given) => <textarea rows={3} {...given} {...input} className={classNames(control, className)} />}
    </Field>
  );
}

type CheckFieldProps = FieldProps & Omit<ComponentProps<'input'>, 'id' | 'required' | 'type'>;

/** A box to tick, with its label beside it. */
export function CheckField({ label, hint, className, ...input }: CheckFieldProps) {
  const id = useId();
  return (
    <div className={classNames('flex items-start gap-2', className)}>
      <input
        id={id}
        type="checkbox"
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        {...input}
        className="mt-0.5 size-4 shrink-0 accent-accent"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-sm">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-hint`} className="text-muted text-xs">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

interface Choice {
  value: string;
  label: string;
}

type SelectFieldProps = FieldProps &
  Omit<ComponentProps<'select'>, 'id' | 'required'> & { choices: readonly Choice[] };

/** The browser's own list, which every screen and keyboard can use. */
export function SelectField({
  label,
  hint,
  error,
  required,
  choices,
  className,
  ...select
}: SelectFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} required={required}>
      {(given) => (
        <select {...given} {...select} className={classNames(control, className)}>
          {choices.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A list without a visible label, for bars of filters. */
export function Select({
  label,
  choices,
  className,
  ...select
}: Omit<ComponentProps<'select'>, 'aria-label'> & { label: string; choices: readonly Choice[] }) {
  return (
    <select
      {...select}
      aria-label={label}
      className={classNames('min-h-8 rounded-md border border-line bg-panel px-2 text-sm', className)}
    >
      {choices.map(({ value, label: text }) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}
