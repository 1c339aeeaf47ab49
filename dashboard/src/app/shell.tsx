import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon, Search, X } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../components/controls/button.tsx';
import { classNames } from '../components/layout/class-names.ts';
import { Logo } from '../components/layout/logo.tsx';
import { ActiveCombo } from '../features/combos/active-combo.tsx';
import { LiveBadge } from '../features/session/live-badge.tsx';
import { UserMenu } from '../features/session/user-menu.tsx';
import { reaches, useRole, useSessionState } from '../lib/api/session.ts';
import { navigation } from './navigation.ts';
import { useShortcuts } from './shortcuts.ts';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => ({ default: Palette })));
const ShortcutsDialog = lazy(() =>
  import('./shortcuts-dialog.tsx').then(({ ShortcutsDialog }) => ({ default: ShortcutsDialog })),
);

/** What is around every page: navigation, the active combo, the state of the live stream, who is logged in. */
export function Shell() {
  const { t } = useTranslation();
  const [menuOpen, setMenuOpen] = useState(false);
  const [overlay, setOverlay] = useState<'palette' | 'shortcuts' | null>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useShortcuts({ palette: () => setOverlay('palette'), help: () => setOverlay('shortcuts') });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the menu.
  useEffect(() => setMenuOpen(false), [path]);
  return (
    <div className="flex min-h-dvh">
      <a
        href={path}
        onClick={skipToContent}
        className="sr-only focus:not-sr-only focus:fixed focus:z-60 focus:bg-panel focus:p-3"
      >
        {t('skip')}
      </a>
      <nav
        aria-label={t('nav.label')}
        className={classNames(
          'fixed inset-y-0 start-0 z-30 w-60 overflow-y-auto border-line border-e bg-panel px-3 py-3 lg:sticky lg:top-0 lg:block lg:h-dvh lg:w-56 lg:shrink-0',
          menuOpen ? 'block shadow-xl' : 'hidden',
        )}
      >
        <Navigation onClose={() => setMenuOpen(false)} />
      </nav>
      {menuOpen && (
        <button
          type="button"
          aria-label={t('close')}
          className="fixed inset-0 z-20 bg-black/40 lg:hidden"
          onClick={() => setMenuOpen(false)}
        />
      )}
      <div className="flex min-w-0 flex-1 flex-col">
        <header className="sticky top-0 z-15 flex h-13 items-center gap-2 border-line border-b bg-panel px-3 sm:px-5">
          <IconButton
            icon={MenuIcon}
            label={t('nav.open')}
            aria-expanded={menuOpen}
            className="lg:hidden"
            onClick={() => setMenuOpen(true)}
          />
          <ActiveCombo />
          <div className="flex-1" />
          <button
            type="button"
            onClick={() => setOverlay('palette')}
            className="inline-flex min-h-8 items-center gap-2 rounded-md border border-line bg-page px-2.5 text-muted hover:text-text"
          >
            <Search size={15} aria-hidden />
            <span className="max-md:sr-only">{t('palette.open')}</span>
            <kbd aria-hidden className="hidden rounded border border-line px-1 font-sans text-xs md:inline">
              {shortcutName()}
            </kbd>
          </button>
          <LiveBadge />
          <UserMenu onShortcuts={() => setOverlay('shortcuts')} />
        </header>
        <main
          id="content"
          tabIndex={-1}
          className="mx-auto w-full min-w-0 max-w-[1400px] flex-1 px-3 py-5 outline-none sm:px-6"
        >
          <Suspense>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Suspense>
        {overlay === 'palette' && <Palette onClose={() => setOverlay(null)} />}
        {overlay === 'shortcuts' && <ShortcutsDialog onClose={() => setOverlay(null)} />}
      </Suspense>
    </div>
  );
}

function Navigation({ onClose }: { onClose(): void }) {
  const { t } = useTranslation();
  const role = useRole();
  const state = useSessionState();
  const version = state.kind === 'out' ? '' : state.login.version;
  return (
    <>
      <div className="mb-3 flex items-center justify-between ps-2">
        <Link to="/" className="flex items-center gap-2 font-semibold text-base tracking-tight">
          <Logo size={22} />
          Modelgate
        </Link>
        <IconButton icon={X} label={t('close')} className="lg:hidden" onClick={onClose} />
      </div>
      {navigation.map(({ label, items }) => {
        const allowed = items.filter(({ least }) => reaches(role, least));
        if (allowed.length === 0) return null;
        return (
          <div key={label} className="mb-3">
            <p className="px-2 pb-1 font-medium text-muted text-xs">{t(label)}</p>
            <ul>
              {allowed.map(({ to, label: name, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    activeOptions={{ exact: to === '/', includeSearch: false }}
                    className="flex min-h-8 items-center gap-2.5 rounded-md px-2"
                    activeProps={{ className: 'bg-accent-soft font-medium text-accent' }}
                    inactiveProps={{ className: 'hover:bg-sunken' }}
                  >
                    <Icon size={16} aria-hidden />
                    {t(name)}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
      {version !== '' && <p className="px-2 pt-2 text-muted text-xs">{t('version', { version })}</p>}
    </>
  );
}

function skipToContent(event: { preventDefault(): void }): void {
  // A plain `#content` would lead elsewhere, for addresses are relative to the page's base.
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function shortcutName(): string {
  return /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K';
}
