import { KeyRound, LayoutDashboard, type LucideIcon, ScrollText } from 'lucide-react';
import type { Role } from '../lib/api/session.ts';

/** A page in the navigation. */
export interface NavigationItem {
  to: '/' | '/requests' | '/api-manager';
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
    label: 'nav.route',
    items: [{ to: '/api-manager', label: 'nav.keys', icon: KeyRound, least: 'operator' }],
  },
];
