import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import type { i18n } from 'i18next';
import { Suspense, useEffect, useMemo, useState } from 'react';
import { I18nextProvider } from 'react-i18next';
import { ToastProvider } from '../components/dialogs/toasts.tsx';
import { LoginDialog } from '../features/session/login-dialog.tsx';
import { LoginPage } from '../features/session/login-page.tsx';
import { type ApiClient, ApiContext } from '../lib/api/client.ts';
import { ApiError } from '../lib/api/error.ts';
import { reaches, type Session, SessionContext, useSession, useSessionState } from '../lib/api/session.ts';
import { type Live, LiveContext, type Topic } from '../lib/live.ts';
import { ThemeContext, type ThemeStore } from '../lib/theme.ts';
import { createDashboardRouter } from './router.ts';

interface AppProps {
  api: ApiClient;
  live: Live;
  needsSetup: boolean;
  session: Session;
  theme: ThemeStore;
  translation: i18n;
}

const STALE_MS = 10_000;

/** Everything that pages stand on: the API, the login, what is live, the language, and the router. */
export function App({ api, live, needsSetup, session, theme, translation }: AppProps) {
  const [queries] = useState(createQueryClient);
  return (
    <I18nextProvider i18n={translation}>
      <SessionContext value={session}>
        <ApiContext value={api}>
          <LiveContext value={live}>
            <ThemeContext value={theme}>
              <QueryClientProvider client={queries}>
                <ToastProvider>
                  <Suspense>
                    <Door needsSetup={needsSetup} queries={queries} live={live} api={api} />
                  </Suspense>
                </ToastProvider>
              </QueryClientProvider>
            </ThemeContext>
          </LiveContext>
        </ApiContext>
      </SessionContext>
    </I18nextProvider>
  );
}

interface DoorProps {
  needsSetup: boolean;
  queries: QueryClient;
  live: Live;
  api: ApiClient;
}

/** The pages for who is logged in, the login for who is not. */
function Door({ needsSetup, queries, live, api }: DoorProps) {
  const state = useSessionState();
  const session = useSession();
  const [router] = useState(() => createDashboardRouter(queries));
  const login = state.kind === 'out' ? null : state.login;
  const role = login?.role ?? null;
  const topics = useMemo<readonly Topic[]>(() => {
    if (role === null) return [];
    return reaches(role, 'operator') ? ['requests', 'services'] : ['services'];
  }, [role]);
  const inside = state.kind === 'in' || state.kind === 'confirming';
  useEffect(() => {
    if (!inside) return;
    live.start(topics);
    return () => live.stop();
  }, [inside, live, topics]);
  useEffect(() => {
    // Nobody sees what was loaded for somebody else.
    if (role === null) queries.clear();
  }, [role, queries]);
  useRenewal(api, session);
  if (login === null) return <LoginPage needsSetup={needsSetup} />;
  return (
    <>
      <RouterProvider router={router} />
      {(state.kind === 'expired' || state.kind === 'confirming') && <LoginDialog state={state} />}
    </>
  );
}

const RENEW_BEFORE_MS = 10 * 60_000;
const LOOK_MS = 60_000;

/** Prolongs the login of somebody who is working: a further token shortly before this one ends. */
function useRenewal(api: ApiClient, session: Session): void {
  useEffect(() => {
    let active = true;
    const note = () => {
      active = true;
    };
    const look = () => {
      const state = session.state();
      const soon = state.kind === 'in' && state.login.expiresAt - Date.now() < RENEW_BEFORE_MS;
      // Where it fails the login ends at its time, and the page asks for the password then.
      if (soon && active) void api.renew().catch(() => {});
      active = false;
    };
    const timer = setInterval(look, LOOK_MS);
    window.addEventListener('pointerdown', note);
    window.addEventListener('keydown', note);
    return () => {
      clearInterval(timer);
      window.removeEventListener('pointerdown', note);
      window.removeEventListener('keydown', note);
    };
  }, [api, session]);
}

function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: STALE_MS,
        // A refusal stays one; a gateway that is being restarted is there again in a moment.
        retry: (failures, error) =>
          failures < 2 && (!(error instanceof ApiError) || error.status === 0 || error.status >= 502),
      },
      mutations: { retry: false },
    },
  });
}
