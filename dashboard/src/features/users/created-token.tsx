import { useTranslation } from 'react-i18next';
import { CreatedSecret } from '../../components/dialogs/created-secret.tsx';
import { CodeBlock } from '../../components/text/code-block.tsx';
import { gatewayUrl } from '../../lib/base-path.ts';
import type { NewToken } from './token-form.tsx';

/** The text of a new token, which is shown this once, and a request with it. */
export function CreatedToken({ made, onClose }: { made: NewToken; onClose(): void }) {
  const { t } = useTranslation('users');
  return (
    <CreatedSecret
      title={t('tokens.made', { name: made.name })}
      description={t('tokens.once')}
      secret={made.token}
      stored={t('tokens.stored')}
      onClose={onClose}
    >
      <CodeBlock code={`curl ${gatewayUrl()}/api/services -H 'x-auth-token: ${made.token}'`} />
    </CreatedSecret>
  );
}
