import { useTranslation } from 'react-i18next';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { type Login, useSession } from '../../lib/api/session.ts';
import { LoginForm } from './login-form.tsx';

/** Over the page of somebody whose login has ended: what they were doing goes on afterwards. */
export function LoginDialog({ login }: { login: Login }) {
  const { t } = useTranslation('session');
  const session = useSession();
  return (
    <Dialog open required onClose={() => {}} title={t('expired.title')} description={t('expired.intro')}>
      <LoginForm user={login.user} />
      <Button variant="quiet" className="mt-2 mb-3 w-full" onClick={() => session.leave()}>
        {t('expired.leave')}
      </Button>
    </Dialog>
  );
}
