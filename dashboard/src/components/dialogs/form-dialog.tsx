import type { FormEvent, ReactNode } from 'react';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../controls/button.tsx';
import { Dialog } from './dialog.tsx';

interface FormDialogProps {
  onClose(): void;
  title: ReactNode;
  description?: ReactNode;
  wide?: boolean;
  /** The verb of the primary button: `Create key`. */
  submit: string;
  onSubmit(event: FormEvent<HTMLFormElement>): unknown;
  /** What was submitted is under way. */
  busy: boolean;
  /** Why it cannot be submitted yet. */
  disabledReason?: string | null;
  /** Other buttons, before those that end the form. */
  actions?: ReactNode;
  /** The form checks its fields itself, with sentences of its own. */
  noValidate?: boolean;
  children: ReactNode;
}

/** A form in a dialog: Enter submits it, and what ends it is always in sight. */
export function FormDialog(props: FormDialogProps) {
  const { actions, busy, disabledReason = null, noValidate = false, onSubmit, submit } = props;
  const { children, description, onClose, title, wide = false } = props;
  const { t } = useTranslation();
  const form = useId();
  return (
    <Dialog
      open
      wide={wide}
      onClose={onClose}
      title={title}
      {...(description === undefined ? {} : { description })}
      footer={
        <>
          {actions}
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" form={form} variant="primary" busy={busy} disabledReason={disabledReason}>
            {submit}
          </Button>
        </>
      }
    >
      <form
        id={form}
        noValidate={noValidate}
        className="flex flex-col gap-4 pb-3"
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit(event);
        }}
      >
        {children}
      </form>
    </Dialog>
  );
}
