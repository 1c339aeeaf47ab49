import './styles.css';
import { createRoot } from 'react-dom/client';
import { App } from './app/app.tsx';
import { createClient } from './lib/api/client.ts';
import { createSession } from './lib/api/session.ts';
import { dashboardPath, dashboardUrl } from './lib/base-path.ts';
import { startTranslation } from './lib/i18n/i18n.ts';
import { createLive } from './lib/live.ts';
import { createThemeStore } from './lib/theme.ts';

const html = document.documentElement;
const theme = createThemeStore(html, localStorage, matchMedia('(prefers-color-scheme: dark)'));
// Two gateways behind one host, each below a path of its own, keep their logins apart.
const session = createSession(sessionStorage, `modelgate.session:${dashboardPath()}`);
const api = createClient({
  root: new URL('../api/', dashboardUrl()),
  session,
  fetch: (...args) => fetch(...args),
});
const live = createLive(api);
const needsSetup = html.dataset['setup'] === 'true';
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no #root');
const reactRoot = createRoot(root);
// Not awaited here: Rolldown joins no small files where a module awaits at its top.
void startTranslation(localStorage, navigator.languages, html).then((translation) =>
  reactRoot.render(<App {...{ api, live, needsSetup, session, theme, translation }} />),
);
