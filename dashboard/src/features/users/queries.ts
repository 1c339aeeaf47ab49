import { queryOptions } from '@tanstack/react-query';
import type { ApiClient, Member } from '../../lib/api/client.ts';
import type { Role } from '../../lib/api/session.ts';

export interface User extends Member {
  name: string;
  display_name: string | null;
  role: Role;
  disabled: boolean;
  created_at: string;
  password_changed_at: string | null;
  last_login_at: string | null;
}

/** A login, or a token for automation. */
export interface Token extends Member {
  kind: 'api' | 'ui' | 'ws' | 'automation';
  user_id: string;
  user: string;
  name: string | null;
  hint: string;
  scopes: string[] | null;
  cidrs: string[] | null;
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
  last_used_address: string | null;
  current: boolean;
}

/** Everybody for an admin, oneself for the others. */
export function usersQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['users'],
    queryFn: ({ signal }) => api.list<User>('users', { signal, query: { sort_by: 'name' } }),
  });
}

export function tokensQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['tokens'],
    queryFn: ({ signal }) =>
      api.list<Token>('tokens', { signal, query: { sort_by: 'created_at', sort_order: 'desc' } }),
  });
}

/** What the reader of the page may let a token do. */
export function scopesQuery(api: ApiClient) {
  return queryOptions({
    queryKey: ['identity'],
    queryFn: ({ signal }) => api.get<{ identity: { scopes: string[] } }>('', { signal }),
    select: ({ identity }) => identity.scopes,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
