import type { ReactNode } from 'react';
import { Button } from '../controls/button.tsx';
import { CodeBlock } from '../text/code-block.tsx';
import { Dialog } from './dialog.tsx';

interface CreatedSecretProps {
  title: string;
  /** That it is shown this once. */
  description: string;
  secret: string;
  /** The only way out, said by whoever takes it: `I have stored the key`. */
  stored: string;
  onClose(): void;
  /** How to use it. */
  children: ReactNode;
}

/** The text of a new key or token, which is shown this once: the dialog stays until somebody says that they have it. */
export function CreatedSecret({ children, description, onClose, secret, stored, title }: CreatedSecretProps) {
  return (
    <Dialog
      open
      required
      wide
      onClose={onClose}
      title={title}
      description={description}
      footer={
        <Button variant="primary" onClick={onClose}>
          {stored}
        </Button>
      }
    >
      <div className="flex flex-col gap-4 pb-3">
        <CodeBlock code={secret} />
        {children}
      </div>
    </Dialog>
  );
}
