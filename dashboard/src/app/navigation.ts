import {
  Bot,
  Cable,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  Plug,
  ScrollText,
  Shuffle,
  SquareTerminal,
} from 'lucide-react';
import type { Role } from '../lib/api/session.ts';

/** A page in the navigation. */
export interface NavigationItem {
  to:
    | '/'
    | '/requests'
    | '/cli-code'
    | '/cli-agents'
    | '/acp-agents'
    | '/connections'
    | '/combos'
    | '/api-manager';
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
      { to: '/combos', label: 'nav.combos', icon: Shuffle, least: 'viewer' },
      { to: '/api-manager', label: 'nav.keys', icon: KeyRound, least: 'operator' },
    ],
  },
];
