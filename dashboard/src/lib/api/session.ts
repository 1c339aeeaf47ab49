import { createContext, use, useSyncExternalStore } from 'react';

export type Role = 'viewer' | 'operator' | 'admin';

/** A login of this window. */
export interface Login {
  token: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  user: string;
  role: Role;
  /** Of the gateway. */
  version: string;
}

export type SessionState =
  | { kind: 'out' }
  | { kind: 'in'; login: Login }
  /** The login ended while somebody worked: the page stays as it is and asks for the password again. */
  | { kind: 'expired'; login: Login }
  /** Something needs a password that was given a moment ago; the login is good for everything else. */
  | { kind: 'confirming'; login: Login };

/** Who is logged in, kept in this window's `sessionStorage` (which is apart for each origin with its port). */
export interface Session {
  state(): SessionState;
  subscribe(listener: () => void): () => void;
  enter(login: Login): void;
  leave(): void;
  /** The token ended. @returns whether somebody logged in again, so that the request can be repeated */
  expire(token: string): Promise<boolean>;
  /** Asks for the password, for what needs one that is fresh. @returns whether it was given, so that the request can be repeated */
  confirm(): Promise<boolean>;
  /** The password that was asked for is not given. */
  cancelConfirm(): void;
}

export function createSession(storage: Storage, key: string, now: () => number = Date.now): Session {
  const listeners = new Set<() => void>();
  let waiting: ((again: boolean) => void)[] = [];
  let current: SessionState = stored(storage, key, now());

  const become = (next: SessionState) => {
    current = next;
    if (next.kind === 'in' || next.kind === 'confirming') storage.setItem(key, JSON.stringify(next.login));
    else storage.removeItem(key);
    for (const listener of listeners) listener();
  };
  const settle = (again: boolean) => {
    const resolvers = waiting;
    waiting = [];
    for (const resolve of resolvers) resolve(again);
  };
  return {
    state: () => current,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    enter(login) {
      become({ kind: 'in', login });
      settle(true);
    },
    leave() {
      become({ kind: 'out' });
      settle(false);
    },
    expire(token) {
      // An answer to a request from before the last login says nothing about this one.
      if (current.kind === 'in' && current.login.token !== token) return Promise.resolve(true);
      if (current.kind === 'out') return Promise.resolve(false);
      if (current.kind !== 'expired') become({ kind: 'expired', login: current.login });
      return new Promise((resolve) => waiting.push(resolve));
    },
    confirm() {
      if (current.kind === 'out') return Promise.resolve(false);
      if (current.kind === 'in') become({ kind: 'confirming', login: current.login });
      return new Promise((resolve) => waiting.push(resolve));
    },
    cancelConfirm() {
      if (current.kind !== 'confirming') return;
      become({ kind: 'in', login: current.login });
      settle(false);
    },
  };
}

function stored(storage: Storage, key: string, now: number): SessionState {
  try {
    const login = JSON.parse(storage.getItem(key) ?? 'null') as Login | null;
    if (login !== null && login.expiresAt > now) return { kind: 'in', login };
  } catch {
    // Not written by this version: as if there were none.
  }
  return { kind: 'out' };
}

export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('SessionContext is missing');
  return session;
}

export function useSessionState(): SessionState {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.state);
}

/** The role of who is logged in; the least one while nobody is. */
export function useRole(): Role {
  const state = useSessionState();
  return state.kind === 'out' ? 'viewer' : state.login.role;
}

const order: readonly Role[] = ['viewer', 'operator', 'admin'];

/** Whether `role` may do what is for `least` and those above it. */
export function reaches(role: Role, least: Role): boolean {
  return order.indexOf(role) >= order.indexOf(least);
}
