import { X } from 'lucide-react';
import { createContext, type ReactNode, use, useCallback, useEffect, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button, IconButton } from '../controls/button.tsx';

interface Toast {
  id: number;
  text: string;
  undo?: (() => void) | undefined;
}

/** Tells of something that was done, for a while, with a way to undo it where there is one. */
type Notify = (text: string, undo?: () => void) => void;

const ToastContext = createContext<Notify>(() => {});

export function useNotify(): Notify {
  return use(ToastContext);
}

const SHOWN_MS = 7000;

export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const drop = useCallback((id: number) => setToasts((all) => all.filter((toast) => toast.id !== id)), []);
  const notify = useCallback<Notify>((text, undo) => {
    setToasts((all) => [...all.slice(-3), { id: (all.at(-1)?.id ?? 0) + 1, text, undo }]);
  }, []);
  const value = useMemo(() => notify, [notify]);
  return (
    <ToastContext value={value}>
      {children}
      <div
        role="status"
        className="fixed end-4 bottom-4 z-60 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2"
      >
        {toasts.map((toast) => (
          <ToastCard key={toast.id} toast={toast} onDrop={drop} />
        ))}
      </div>
    </ToastContext>
  );
}

function ToastCard({ toast: { id, text, undo }, onDrop }: { toast: Toast; onDrop(id: number): void }) {
  const { t } = useTranslation();
  useEffect(() => {
    const timer = setTimeout(() => onDrop(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, onDrop]);
  return (
    <div className="flex animate-appear items-center gap-2 rounded-lg border border-line bg-panel py-2 ps-3 pe-1.5 shadow-lg">
      <p className="min-w-0 flex-1 [overflow-wrap:anywhere]">{text}</p>
      {undo !== undefined && (
        <Button
          variant="quiet"
          onClick={() => {
            undo();
            onDrop(id);
          }}
        >
          {t('undo')}
        </Button>
      )}
      <IconButton icon={X} label={t('close')} onClick={() => onDrop(id)} />
    </div>
  );
}
