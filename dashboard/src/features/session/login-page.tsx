import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { Logo } from '../../components/layout/logo.tsx';
import { LanguageMenu } from './language-menu.tsx';
import { LoginForm } from './login-form.tsx';
import { SetupForm } from './setup-form.tsx';

/** The page of who is not logged in: name and password, or the setup code while there is no admin. */
export function LoginPage({ needsSetup }: { needsSetup: boolean }) {
  const { t } = useTranslation('session');
  const [setup, setSetup] = useState(needsSetup);
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-4 px-4 py-8">
      <div className="w-full max-w-sm rounded-xl border border-line bg-panel p-6 shadow-sm">
        <div className="mb-5 flex items-center gap-2.5">
          <Logo size={28} />
          <h1 className="font-semibold text-lg tracking-tight">
            {setup ? t('setup.title') : t('login.title')}
          </h1>
        </div>
        {setup ? <SetupForm /> : <LoginForm />}
        {needsSetup && setup && (
          <Button variant="quiet" className="mt-2 w-full" onClick={() => setSetup(false)}>
            {t('setup.haveLogin')}
          </Button>
        )}
      </div>
      <LanguageMenu />
    </main>
  );
}
