import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createClient } from './client.ts';
import { ApiError } from './error.ts';
import { createSession, type Session } from './session.ts';

/** What a browser keeps for a window. */
function storage(): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
    removeItem: (key: string) => void items.delete(key),
    clear: () => items.clear(),
    key: () => null,
    length: 0,
  };
}

interface Sent {
  url: string;
  headers: Headers;
  credentials: string | undefined;
}

/** A client of an API that answers as `answer` says. */
function opened(answer: (sent: Sent) => Response): {
  api: ReturnType<typeof createClient>;
  session: Session;
  sent: Sent[];
} {
  const sent: Sent[] = [];
  const session = createSession(storage(), 'key');
  const api = createClient({
    root: new URL('http://gateway.test/prefix/api/'),
    session,
    fetch: async (input, init) => {
      const one: Sent = {
        url: String(input),
        headers: new Headers(init?.headers),
        credentials: init?.credentials,
      };
      sent.push(one);
      return answer(one);
    },
  });
  return { api, session, sent };
}

const login = (token: string) => ({
  token,
  expiresAt: Date.now() + 60_000,
  user: 'ann',
  role: 'admin' as const,
  version: '1',
});
const refused = () =>
  Response.json({ detail: 'log in', code: 'unauthorized', request_id: 'req_1' }, { status: 401 });

describe('the client of the management API', () => {
  it('sends the token in a header, no cookies, below the prefix of a proxy', async () => {
    const { api, sent, session } = opened(() => Response.json({ name: 'keys' }));
    session.enter(login('one'));
    await api.list('keys', { query: { 'filter[]': ["name='a'", 'x>1'], limit: 5 } });
    const [first] = sent;
    assert.equal(first?.credentials, 'omit');
    assert.equal(first.headers.get('x-auth-token'), 'one');
    const url = new URL(first.url);
    assert.equal(url.pathname, '/prefix/api/keys');
    assert.deepEqual(url.searchParams.getAll('filter[]'), ["name='a'", 'x>1']);
    assert.equal(url.searchParams.get('expand'), 'resources');
  });

  it('waits for another login when the token has ended, and repeats the request', async () => {
    const { api, sent, session } = opened(({ headers }) =>
      headers.get('x-auth-token') === 'new' ? Response.json({ done: true }) : refused(),
    );
    session.enter(login('old'));
    const answer = api.post('keys', { name: 'a' });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(session.state().kind, 'expired');
    session.enter(login('new'));
    assert.deepEqual(await answer, { done: true });
    assert.deepEqual(
      sent.map(({ headers }) => headers.get('x-auth-token')),
      ['old', 'new'],
    );
  });

  it('gives up when nobody logs in again', async () => {
    const { api, session } = opened(refused);
    session.enter(login('old'));
    const answer = api.get('keys');
    await new Promise((resolve) => setImmediate(resolve));
    session.leave();
    await assert.rejects(answer, { status: 401, code: 'unauthorized', requestId: 'req_1' });
  });

  it('reports what was refused, and that no server answers', async () => {
    const slow = opened(() =>
      Response.json(
        { detail: 'too many', code: 'too_many_logins' },
        { status: 429, headers: { 'retry-after': '30' } },
      ),
    );
    await assert.rejects(slow.api.logIn('ann', 'x'), { status: 429, retryAfter: 30, message: 'too many' });
    const gone = opened(() => {
      throw new TypeError('fetch failed');
    });
    await assert.rejects(
      gone.api.get('keys'),
      (error) => error instanceof ApiError && error.code === 'unreachable',
    );
    const proxy = opened(() => new Response('<html>', { status: 502 }));
    await assert.rejects(proxy.api.get('keys'), { status: 502, code: 'http_502' });
  });

  it('logs in with a name and password beyond ASCII', async () => {
    const { api, sent, session } = opened(({ url }) =>
      url.includes('/auth')
        ? Response.json({ auth_token: 't', expires_on: '', token_ttl: 3600 })
        : Response.json({ identity: { name: 'jürgen', role: 'viewer' }, server_info: { version: '1.2.3' } }),
    );
    await api.logIn('jürgen', 'pässword: 🔑');
    const [, encoded = ''] = (sent[0]?.headers.get('authorization') ?? '').split(' ');
    assert.equal(Buffer.from(encoded, 'base64').toString(), 'jürgen:pässword: 🔑');
    const state = session.state();
    assert.ok(state.kind === 'in');
    assert.deepEqual(
      [state.login.user, state.login.role, state.login.version],
      ['jürgen', 'viewer', '1.2.3'],
    );
  });
});
