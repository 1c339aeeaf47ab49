import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Button } from '../../components/controls/button.tsx';
import { TextField } from '../../components/controls/field.tsx';
import { ErrorNotice } from '../../components/layout/error-notice.tsx';
import { useApi } from '../../lib/api/client.ts';
import { ApiError } from '../../lib/api/error.ts';

interface LoginFormProps {
  /** The name, where it is known already. */
  user?: string;
  /** The text of the button, where it is another than that of a login. */
  submit?: string;
}

/** Name and password for a token. */
export function LoginForm({ user, submit: submitText }: LoginFormProps) {
  const { t } = useTranslation('session');
  const api = useApi();
  const [name, setName] = useState(user ?? 'admin');
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async () => {
    setBusy(true);
    setError(null);
    try {
      await api.logIn(name, password);
    } catch (thrown) {
      setError(thrown);
      setPassword('');
      setBusy(false);
    }
  };
  const wrong = error instanceof ApiError && error.status === 401;
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextField
        label={t('login.name')}
        autoComplete="username"
        value={name}
        onChange={(event) => setName(event.target.value)}
        readOnly={user !== undefined}
        required
      />
      <TextField
        label={t('login.password')}
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={(event) => setPassword(event.target.value)}
        error={wrong ? t('login.wrong') : undefined}
        autoFocus
        required
      />
      {error !== null && !wrong && <ErrorNotice error={error} />}
      <Button type="submit" variant="primary" busy={busy}>
        {submitText ?? t('login.submit')}
      </Button>
    </form>
  );
}
