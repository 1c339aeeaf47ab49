import { useTranslation } from 'react-i18next';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { gatewayUrl } from '../../lib/base-path.ts';
import type { NewToken } from './token-form.tsx';

/** The text of a new token, which is shown this once, and a request with it. */
export function CreatedToken({ made, onClose }: { made: NewToken; onClose(): void }) {
  const { t } = useTranslation('users');
  return (
    <Dialog
      open
      required
      wide
      onClose={onClose}
      title={t('tokens.made', { name: made.name })}
      description={t('tokens.once')}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('tokens.stored')}
        </Button>
      }
    >
      <div className="flex flex-col gap-4 pb-3">
        <CodeBlock code={made.token} />
        <CodeBlock code={`curl ${gatewayUrl()}/api/services -H 'x-auth-token: ${made.token}'`} />
      </div>
    </Dialog>
  );
}
