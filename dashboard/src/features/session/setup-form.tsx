import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { TextField } from '../../components/controls/field.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';
import { dashboardUrl } from '../../lib/base-path.ts';

/** Makes the first admin with the code that the server printed, which proves that its owner asks. */
export function SetupForm() {
  const { t } = useTranslation('session');
  const api = useApi();
  const [code, setCode] = useState('');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async () => {
    setBusy(true);
    setError(null);
    // Whoever is let in by this goes on with the other steps of the first run.
    const before = window.location.href;
    window.history.replaceState(null, '', new URL('setup', dashboardUrl()));
    try {
      await api.setUp(code.trim(), password);
      document.documentElement.dataset['setup'] = 'false';
    } catch (thrown) {
      window.history.replaceState(null, '', before);
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <p className="text-muted">{t('setup.intro')}</p>
      <TextField
        label={t('setup.code')}
        hint={t('setup.codeHint')}
        autoComplete="one-time-code"
        spellCheck={false}
        value={code}
        onChange={(event) => setCode(event.target.value)}
        autoFocus
        required
      />
      <TextField
        label={t('setup.password')}
        hint={t('setup.passwordHint')}
        type="password"
        autoComplete="new-password"
        minLength={8}
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        required
      />
      {error !== null && <ErrorNotice error={error} />}
      <Button type="submit" variant="primary" busy={busy}>
        {t('setup.submit')}
      </Button>
    </form>
  );
}
