import { CLOCK_TOLERANCE_MS } from '../lib/time/clock.ts';

/** The roles, each with all that the ones before it may do. */
export const roles = ['viewer', 'operator', 'admin'] as const;
export type Role = (typeof roles)[number];

interface PermissionRow {
  /** The least role that has it. */
  from: Role;
  /** Whether an automation token may hold it as a scope. */
  scope: boolean;
  /** Only within five minutes of a proven password. */
  fresh?: boolean;
}

/**
 * Everything that can be done through the management API, and the roles that may. What is not listed is forbidden to
 * all: routing, the actions that a resource advertises, the documentation and the tests all read this table.
 */
export const permissions = {
  'api:read': { from: 'viewer', scope: true },
  'services:read': { from: 'viewer', scope: true },
  'services:operate': { from: 'operator', scope: true },
  'services:update': { from: 'admin', scope: true },
  /** Ending the process of the gateway, and starting the gateway anew. */
  'process:operate': { from: 'admin', scope: false, fresh: true },
  'metrics:read': { from: 'viewer', scope: true },
  'usage:read': { from: 'viewer', scope: true },
  'models:read': { from: 'viewer', scope: true },
  'catalog:update': { from: 'admin', scope: true },
  'providers:read': { from: 'viewer', scope: true },
  'combos:read': { from: 'viewer', scope: true },
  'combos:operate': { from: 'operator', scope: true },
  'combos:update': { from: 'admin', scope: true },
  'tools:read': { from: 'operator', scope: true },
  'tools:update': { from: 'admin', scope: true },
  'requests:read': { from: 'operator', scope: true },
  'logs:read': { from: 'operator', scope: true },
  'connections:read': { from: 'viewer', scope: true },
  'connections:operate': { from: 'operator', scope: true },
  'connections:create': { from: 'admin', scope: true },
  'connections:update': { from: 'admin', scope: true },
  'connections:delete': { from: 'admin', scope: true },
  'keys:read': { from: 'operator', scope: true },
  'keys:create': { from: 'admin', scope: true },
  'keys:update': { from: 'admin', scope: true },
  'keys:delete': { from: 'admin', scope: true },
  'tasks:read': { from: 'viewer', scope: true },
  'settings:read': { from: 'operator', scope: true },
  'settings:update': { from: 'admin', scope: false },
  'cache:read': { from: 'viewer', scope: true },
  'cache:operate': { from: 'operator', scope: true },
  'quota:read': { from: 'viewer', scope: true },
  'budgets:read': { from: 'viewer', scope: true },
  'budgets:update': { from: 'admin', scope: true },
  /** How the event engine is doing, without what events hold. */
  'events:read': { from: 'viewer', scope: true },
  /** The configuration, and events themselves: dead letters, and those that pass. */
  'events:inspect': { from: 'operator', scope: true },
  /** Handling dead letters again, and throwing them away. */
  'events:operate': { from: 'operator', scope: true },
  'events:update': { from: 'admin', scope: true },
  'events:send': { from: 'operator', scope: true },
  'alerts:read': { from: 'operator', scope: true },
  'alerts:operate': { from: 'operator', scope: true },
  'alerts:update': { from: 'admin', scope: true },
  /** One's own profile, password and tokens. */
  'self:read': { from: 'viewer', scope: true },
  'self:update': { from: 'viewer', scope: false },
  'users:read': { from: 'admin', scope: false },
  'users:create': { from: 'admin', scope: false, fresh: true },
  'users:update': { from: 'admin', scope: false, fresh: true },
  'users:delete': { from: 'admin', scope: false, fresh: true },
  'tokens:read': { from: 'admin', scope: false },
  'tokens:delete': { from: 'admin', scope: false },
  'tunnels:read': { from: 'operator', scope: true },
  /** Opens the gateway to the internet. */
  'tunnels:operate': { from: 'admin', scope: false },
  'agents:read': { from: 'operator', scope: true },
  /** Having an agent of this machine tested, and looked for. */
  'agents:operate': { from: 'operator', scope: true },
  /** What programs of this machine answer requests, and what they may do. */
  'agents:create': { from: 'admin', scope: false },
  'agents:update': { from: 'admin', scope: false },
  'agents:delete': { from: 'admin', scope: false },
  'audit:read': { from: 'admin', scope: true },
  'backups:read': { from: 'admin', scope: false },
  'backups:create': { from: 'admin', scope: false, fresh: true },
  'backups:restore': { from: 'admin', scope: false, fresh: true },
  'secrets:reveal': { from: 'admin', scope: false, fresh: true },
} as const satisfies Record<string, PermissionRow>;

export type Permission = keyof typeof permissions;

function isPermission(text: string): text is Permission {
  return Object.hasOwn(permissions, text);
}

export function isRole(text: string): text is Role {
  return roles.some((role) => role === text);
}

/** Whether a role has a permission; false for a permission that the table lacks. */
export function roleHas(role: Role, permission: string): boolean {
  if (!isPermission(permission)) return false;
  return roles.indexOf(role) >= roles.indexOf(permissions[permission].from);
}

/** Whether a role has a permission, where an automation token narrows it to its scopes (null: none narrows it). */
export function holdsPermission(role: Role, scopes: readonly string[] | null, permission: string): boolean {
  if (!roleHas(role, permission)) return false;
  return scopes === null || (scopes.includes(permission) && mayBeScope(permission));
}

/** Whether an automation token may hold a permission. */
export function mayBeScope(permission: string): boolean {
  return isPermission(permission) && permissions[permission].scope;
}

/** Whether a permission needs a password that was proven a moment ago. */
export function needsFresh(permission: string): boolean {
  if (!isPermission(permission)) return true;
  const row: PermissionRow = permissions[permission];
  return row.fresh === true;
}

/** The permissions that a caller can give an automation token: at most its own. */
export function grantableScopes(caller: { can(permission: string): boolean }): Permission[] {
  return (Object.keys(permissions) as Permission[]).filter(
    (permission) => mayBeScope(permission) && caller.can(permission),
  );
}

/** For how long a proven password counts as fresh. */
const FRESH_MS = 5 * 60_000;

/**
 * Whether a caller may do now what needs a fresh password. Whoever holds the key of the run file need not: they own the
 * data directory, where they could set any password.
 */
export function hasFreshLogin(caller: { via: string; passwordAt: number | null }, now: number): boolean {
  if (caller.via === 'local') return true;
  if (caller.passwordAt === null) return false;
  const age = now - caller.passwordAt;
  // A password of the future was proven before the clock was set back, at an unknown time.
  return age <= FRESH_MS && age >= -CLOCK_TOLERANCE_MS;
}
