import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../controls/button.tsx';
import { ErrorNotice } from '../layout/error-notice.tsx';
import { Dialog } from './dialog.tsx';

interface ConfirmDialogProps {
  open: boolean;
  onClose(): void;
  title: ReactNode;
  /** What will be gone, and whether it can be undone. */
  children: ReactNode;
  /** The verb: `Revoke key`. */
  confirm: string;
  /** Closes the dialog when it resolves; what it throws is shown. */
  onConfirm(): Promise<unknown>;
}

/** Asks before something is destroyed. */
export function ConfirmDialog({ open, onClose, title, children, confirm, onConfirm }: ConfirmDialogProps) {
  const { t } = useTranslation();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const close = () => {
    setError(null);
    onClose();
  };
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      close();
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      footer={
        <>
          <Button onClick={close}>{t('cancel')}</Button>
          <Button variant="danger" busy={busy} onClick={run}>
            {confirm}
          </Button>
        </>
      }
    >
      <div className="text-muted">{children}</div>
      {error !== null && (
        <div className="mt-3">
          <ErrorNotice error={error} />
        </div>
      )}
    </Dialog>
  );
}
