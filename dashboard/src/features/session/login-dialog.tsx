import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { type SessionState, useSession } from '../../lib/api/session.ts';
import { LoginForm } from './login-form.tsx';

type AskingState = Extract<SessionState, { kind: 'expired' | 'confirming' }>;

/** Asks for the password over the page, where the login has ended or a change needs a fresh one: what was begun goes on afterwards. */
export function LoginDialog({ state: { kind, login } }: { state: AskingState }) {
  const { t } = useTranslation('session');
  const session = useSession();
  const leave = () => (kind === 'expired' ? session.leave() : session.cancelConfirm());
  return (
    <Dialog
      open
      required={kind === 'expired'}
      onClose={leave}
      title={t(`${kind}.title`)}
      description={t(`${kind}.intro`)}
    >
      <LoginForm user={login.user} submit={t(`${kind}.submit`)} />
      <Button variant="quiet" className="mt-2 mb-3 w-full" onClick={leave}>
        {t(`${kind}.leave`)}
      </Button>
    </Dialog>
  );
}
