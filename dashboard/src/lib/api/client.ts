import { createContext, use } from 'react';
import { ApiError, errorOf } from './error.ts';
import type { Login, Role, Session } from './session.ts';

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface RequestOptions {
  query?: Query;
  signal?: AbortSignal | undefined;
  headers?: Readonly<Record<string, string>>;
}

/** A page of a collection (docs/collections.md). */
export interface Page<Row> {
  name: string;
  count: number;
  subcount: number;
  /** Where the query has a filter: how many fit it. */
  subquery_count?: number;
  resources: Row[];
  actions?: ActionLink[];
}

/** Something that the caller may do now. */
export interface ActionLink {
  name: string;
  method: string;
  href: string;
}

/** A member of a collection, as every member is shown. */
export interface Member {
  id: string;
  href: string;
  actions?: ActionLink[];
}

/** An ordinary client of the management API: a token in a header, no cookies, never a browser's own password dialog. */
export interface ApiClient {
  get<T>(path: string, options?: RequestOptions): Promise<T>;
  /** A page of whole members. */
  list<Row>(collection: string, options?: RequestOptions): Promise<Page<Row>>;
  post<T>(path: string, body: object, options?: RequestOptions): Promise<T>;
  put<T>(path: string, body: object, options?: RequestOptions): Promise<T>;
  patch<T>(path: string, body: object, options?: RequestOptions): Promise<T>;
  remove(path: string, options?: RequestOptions): Promise<void>;
  /** The answer as it comes, for streams and downloads. @throws ApiError where it is not 2xx */
  open(path: string, options?: RequestOptions): Promise<Response>;
  logIn(user: string, password: string): Promise<void>;
  /** Makes the first admin with the code that the server printed, and logs in. */
  setUp(code: string, password: string): Promise<void>;
  logOut(): Promise<void>;
  /** Asks for a further token before this one ends, while somebody works. */
  renew(): Promise<void>;
}

export interface ClientInput {
  /** Address of the API, with a trailing slash. */
  root: URL;
  session: Session;
  fetch: typeof globalThis.fetch;
}

interface IssuedToken {
  auth_token: string;
  expires_on: string;
  token_ttl: number;
}

interface EntryPoint {
  identity: { name: string; role: Role };
  server_info: { version: string };
}

export function createClient({ fetch, root, session }: ClientInput): ApiClient {
  const address = (path: string, query: Query = {}): URL => {
    const url = new URL(path.replace(/^\/(api\/)?/, ''), root);
    for (const [name, value] of Object.entries(query)) {
      if (Array.isArray(value)) for (const one of value) url.searchParams.append(name, one);
      else if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  };
  const send = async (url: URL, init: RequestInit): Promise<Response> => {
    try {
      return await fetch(url, { ...init, credentials: 'omit', cache: 'no-store', redirect: 'error' });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new ApiError('The gateway does not answer', { status: 0, code: 'unreachable' });
    }
  };
  const request = async (
    method: string,
    path: string,
    { headers = {}, query, signal }: RequestOptions = {},
    body?: object,
  ): Promise<Response> => {
    const url = address(path, query);
    const attempt = (token: string | null) =>
      send(url, {
        method,
        signal: signal ?? null,
        headers: {
          accept: 'application/json',
          ...(token === null ? {} : { 'x-auth-token': token }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    const token = tokenOf(session);
    let response = await attempt(token);
    if (response.status === 401 && token !== null && (await session.expire(token)))
      response = await attempt(tokenOf(session));
    if (response.ok) return response;
    const error = await errorOf(response);
    if (error.code !== 'reauthentication_required' || !(await session.confirm())) throw error;
    response = await attempt(tokenOf(session));
    if (!response.ok) throw await errorOf(response);
    return response;
  };
  const json = async <T>(response: Promise<Response>): Promise<T> => (await response).json() as Promise<T>;
  const enter = async ({ auth_token: token, token_ttl: ttl }: IssuedToken): Promise<void> => {
    const response = await send(address(''), {
      headers: { accept: 'application/json', 'x-auth-token': token },
    });
    if (!response.ok) throw await errorOf(response);
    const { identity, server_info } = (await response.json()) as EntryPoint;
    const login: Login = {
      token,
      // By the length, for the clock of this machine may be another than the gateway's.
      expiresAt: Date.now() + ttl * 1000,
      user: identity.name,
      role: identity.role,
      version: server_info.version,
    };
    session.enter(login);
  };
  const logIn = async (user: string, password: string): Promise<void> => {
    const response = await send(address('auth', { requester_type: 'ui' }), {
      headers: { accept: 'application/json', authorization: basic(user, password) },
    });
    if (!response.ok) throw await errorOf(response);
    await enter((await response.json()) as IssuedToken);
  };
  return {
    get: (path, options) => json(request('GET', path, options)),
    list: (collection, options = {}) =>
      json(request('GET', collection, { ...options, query: { expand: 'resources', ...options.query } })),
    post: (path, body, options) => json(request('POST', path, options, body)),
    put: (path, body, options) => json(request('PUT', path, options, body)),
    patch: (path, body, options) => json(request('PATCH', path, options, body)),
    async remove(path, options) {
      await request('DELETE', path, options);
    },
    open: (path, options) => request('GET', path, options),
    logIn,
    async setUp(code, password) {
      const response = await send(address('setup'), {
        method: 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        body: JSON.stringify({ code, password }),
      });
      if (!response.ok) throw await errorOf(response);
      await logIn('admin', password);
    },
    async logOut() {
      const token = tokenOf(session);
      session.leave();
      if (token === null) return;
      // Where it fails the token ends by itself; nobody has it any more.
      await send(address('auth'), { method: 'DELETE', headers: { 'x-auth-token': token } }).catch(() => {});
    },
    async renew() {
      const token = tokenOf(session);
      if (token === null) return;
      const response = await send(address('auth', { requester_type: 'ui' }), {
        headers: { accept: 'application/json', 'x-auth-token': token },
      });
      if (response.ok) await enter((await response.json()) as IssuedToken);
    },
  };
}

function tokenOf(session: Session): string | null {
  const state = session.state();
  return state.kind === 'in' || state.kind === 'confirming' ? state.login.token : null;
}

/** Name and password in UTF-8 (RFC 7617). */
function basic(user: string, password: string): string {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

export const ApiContext = createContext<ApiClient | null>(null);

export function useApi(): ApiClient {
  const api = use(ApiContext);
  if (api === null) throw new Error('ApiContext is missing');
  return api;
}

/** Whether a member or a page advertises an action. */
export function allows(of: { actions?: readonly ActionLink[] } | undefined, name: string): boolean {
  return of?.actions?.some((action) => action.name === name) ?? false;
}
