import {
  Archive,
  Bot,
  Boxes,
  Cable,
  FileClock,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  MessagesSquare,
  Network,
  PiggyBank,
  Plug,
  Receipt,
  ScrollText,
  Server,
  Settings2,
  Shuffle,
  SquareTerminal,
  Users,
} from 'lucide-react';
import type { Role } from '../lib/api/session.ts';

/** A page in the navigation. */
export interface NavigationItem {
  to:
    | '/'
    | '/requests'
    | '/costs'
    | '/playground'
    | '/models'
    | '/budgets'
    | '/cli-code'
    | '/cli-agents'
    | '/acp-agents'
    | '/connections'
    | '/combos'
    | '/api-manager'
    | '/events'
    | '/services'
    | '/users'
    | '/audit'
    | '/backups'
    | '/settings';
  /** Key of its name in the namespace `common`. */
  label: string;
  icon: LucideIcon;
  /** The least role that may read what the page shows. */
  least: Role;
}

export interface NavigationGroup {
  label: string;
  items: readonly NavigationItem[];
}

export const navigation: readonly NavigationGroup[] = [
  {
    label: 'nav.use',
    items: [
      { to: '/', label: 'nav.overview', icon: LayoutDashboard, least: 'viewer' },
      { to: '/requests', label: 'nav.requests', icon: ScrollText, least: 'operator' },
      { to: '/costs', label: 'nav.costs', icon: Receipt, least: 'viewer' },
      { to: '/playground', label: 'nav.playground', icon: MessagesSquare, least: 'operator' },
    ],
  },
  {
    label: 'nav.tools',
    items: [
      { to: '/cli-code', label: 'nav.codingTools', icon: SquareTerminal, least: 'operator' },
      { to: '/cli-agents', label: 'nav.agents', icon: Bot, least: 'operator' },
      { to: '/acp-agents', label: 'nav.acpAgents', icon: Plug, least: 'operator' },
    ],
  },
  {
    label: 'nav.route',
    items: [
      { to: '/connections', label: 'nav.connections', icon: Cable, least: 'viewer' },
      { to: '/models', label: 'nav.models', icon: Boxes, least: 'viewer' },
      { to: '/combos', label: 'nav.combos', icon: Shuffle, least: 'viewer' },
      { to: '/api-manager', label: 'nav.keys', icon: KeyRound, least: 'operator' },
      { to: '/budgets', label: 'nav.budgets', icon: PiggyBank, least: 'viewer' },
    ],
  },
  {
    label: 'nav.operate',
    items: [
      { to: '/events', label: 'nav.events', icon: Network, least: 'viewer' },
      { to: '/services', label: 'nav.services', icon: Server, least: 'viewer' },
      { to: '/users', label: 'nav.users', icon: Users, least: 'viewer' },
      { to: '/audit', label: 'nav.audit', icon: FileClock, least: 'admin' },
      { to: '/backups', label: 'nav.backups', icon: Archive, least: 'admin' },
      { to: '/settings', label: 'nav.settings', icon: Settings2, least: 'operator' },
    ],
  },
];
