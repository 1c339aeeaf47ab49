import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../controls/button.tsx';
import { classNames } from '../layout/class-names.ts';

interface ModalProps {
  /** Asked for by Escape and by a click beside it. */
  onClose(): void;
  required: boolean;
  labelledBy: string;
  describedBy?: string | undefined;
  className: string;
  children: ReactNode;
}

/** The browser's own modal dialog: it keeps the focus, gives it back, and makes the page behind it inert. */
function Modal({ onClose, required, labelledBy, describedBy, className, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const element = dialog.current;
    if (element === null || element.open) return;
    element.showModal();
    // The browser would take the cross, and React leaves no attribute that says which field is wanted.
    element.querySelector<HTMLElement>('input:not([type=checkbox]), textarea, select')?.focus();
    return () => element.close();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the key for it, which `onCancel` hears.
    <dialog
      ref={dialog}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      onCancel={(event) => {
        event.preventDefault();
        if (!required) onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current && !required) onClose();
      }}
      className={classNames(
        'm-0 overflow-hidden border-line bg-panel p-0 text-text shadow-xl backdrop:bg-black/40 open:flex open:animate-appear',
        className,
      )}
    >
      {children}
    </dialog>
  );
}

interface DialogProps {
  open: boolean;
  onClose(): void;
  title: ReactNode;
  description?: ReactNode;
  /** Stays open until it is answered: no cross, no Escape. */
  required?: boolean;
  /** Below the content, always in sight. */
  footer?: ReactNode;
  wide?: boolean;
  children?: ReactNode;
}

/** A dialog in the middle of the page. */
export function Dialog({ open, onClose, required = false, wide = false, ...content }: DialogProps) {
  const { t } = useTranslation();
  const id = useId();
  if (!open) return null;
  const { title, description, footer, children } = content;
  return (
    <Modal
      onClose={onClose}
      required={required}
      labelledBy={`${id}-title`}
      describedBy={description === undefined ? undefined : `${id}-description`}
      className={classNames(
        'mx-auto mt-[8vh] max-h-[84vh] w-[calc(100vw-1.5rem)] flex-col rounded-xl border',
        wide ? 'max-w-3xl' : 'max-w-lg',
      )}
    >
      <header className="flex items-start justify-between gap-3 px-5 pt-4 pb-2">
        <div className="min-w-0">
          <h2 id={`${id}-title`} className="font-semibold text-base [overflow-wrap:anywhere]">
            {title}
          </h2>
          {description !== undefined && (
            <p id={`${id}-description`} className="mt-1 text-muted">
              {description}
            </p>
          )}
        </div>
        {!required && <IconButton icon={X} label={t('close')} onClick={onClose} />}
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto px-5 py-2">{children}</div>
      {footer !== undefined && (
        <footer className="flex flex-wrap justify-end gap-2 border-line border-t px-5 py-3">{footer}</footer>
      )}
    </Modal>
  );
}

interface SheetProps {
  open: boolean;
  onClose(): void;
  title: ReactNode;
  /** Beside the title. */
  actions?: ReactNode;
  children?: ReactNode;
}

/** A side sheet with the detail of a row; the page stays in sight behind it. */
export function Sheet({ open, onClose, title, actions, children }: SheetProps) {
  const { t } = useTranslation();
  const id = useId();
  if (!open) return null;
  return (
    <Modal
      onClose={onClose}
      required={false}
      labelledBy={`${id}-title`}
      className="ms-auto h-dvh max-h-none w-full max-w-2xl flex-col border-s"
    >
      <header className="flex items-center justify-between gap-2 border-line border-b px-4 py-2.5">
        <h2 id={`${id}-title`} className="min-w-0 truncate font-semibold text-base">
          {title}
        </h2>
        <div className="flex items-center gap-1">
          {actions}
          <IconButton icon={X} label={t('close')} onClick={onClose} />
        </div>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">{children}</div>
    </Modal>
  );
}
