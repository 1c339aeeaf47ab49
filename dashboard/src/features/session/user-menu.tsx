import { CircleUser, Keyboard, LogOut, Monitor, Moon, Sun } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { IconButton } from '../../components/controls/button.tsx';
import { Menu, type MenuItem } from '../../components/controls/menu.tsx';
import { useApi } from '../../lib/api/client.ts';
import { useSessionState } from '../../lib/api/session.ts';
import { type Theme, themes, useTheme, useThemeStore } from '../../lib/theme.ts';
import { LanguageMenu } from './language-menu.tsx';

const icons = { system: Monitor, light: Sun, dark: Moon } as const satisfies Record<Theme, unknown>;

/** Who is logged in, the looks of the pages, and the way out. */
export function UserMenu({ onShortcuts }: { onShortcuts(): void }) {
  const { t } = useTranslation();
  const api = useApi();
  const state = useSessionState();
  const store = useThemeStore();
  const theme = useTheme();
  if (state.kind === 'out') return null;
  const { user, role } = state.login;
  const items: MenuItem[] = [
    ...themes.map((name) => ({
      key: name,
      label: t(`theme.${name}`),
      icon: icons[name],
      selected: theme === name,
      onSelect: () => store.choose(name),
    })),
    { key: 'shortcuts', label: t('shortcuts.title'), icon: Keyboard, onSelect: onShortcuts },
    {
      key: 'logout',
      label: t('logOut', { user }),
      icon: LogOut,
      onSelect: () => void api.logOut(),
    },
  ];
  return (
    <div className="flex items-center">
      <LanguageMenu />
      <Menu
        label={t('account')}
        trigger={<IconButton icon={CircleUser} label={`${user} (${t(`role.${role}`)})`} />}
        items={items}
      />
    </div>
  );
}
