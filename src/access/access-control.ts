import type { Caller } from '../http/resource.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import type { Store } from '../store/database.ts';
import { type Bootstrap, openBootstrap } from './bootstrap.ts';
import { createLogins, type Logins } from './login/logins.ts';
import { openLoginThrottle } from './login/throttle.ts';
import { createLoginTokens, type LoginTokens, type TokenSettings } from './login/tokens.ts';
import { type AuthFacts, type AuthRefusal, authenticateManagement } from './manage-auth.ts';
import { createPasswords, type Passwords } from './passwords/passwords.ts';
import { openTokens, type Tokens } from './tokens/tokens.ts';
import { createUserIndex, type UserIndex } from './users/user-index.ts';
import { type UserStore, userStore } from './users/users.ts';
import { savedViewStore } from './views/store.ts';

export interface AccessControlInput {
  store: Pick<Store, 'db' | 'node' | 'revision'>;
  dataDir: string;
  settings: TokenSettings;
  /** The run file's key. */
  ownerKey: string;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** The same for waits: never goes back, so that none lasts a day because the clock was set back. Default: `now`. */
  steady?: () => number;
  /** Told of what goes wrong beside the requests: a write that is tried again. */
  onError: (error: unknown) => void;
  /** Runs what comes back by the clock. Default: one of each part's own. */
  schedule?: Schedule;
  /** Default: those of `createPasswords`. */
  passwords?: Passwords;
}

/** Authenticates clients of the management API, issues and ends their logins; and the parts that the resources `users`, `tokens` and `views` need. */
export interface AccessControl extends LoginTokens, Pick<Bootstrap, 'checkSetUp' | 'setUp' | 'offer'> {
  authenticate(facts: AuthFacts): Promise<Caller | AuthRefusal>;
  parts: AccessParts;
  /** Writes what is pending. */
  close(): Promise<void>;
}

export interface AccessParts {
  users: UserStore;
  index: UserIndex;
  tokens: Tokens;
  logins: Logins;
  passwords: Passwords;
  /** What users saved of the dashboard. */
  views: ReturnType<typeof savedViewStore>;
  /** Milliseconds since the epoch. */
  now: () => number;
}

export async function openAccessControl(input: AccessControlInput): Promise<AccessControl> {
  const { dataDir, now, onError, ownerKey, passwords = createPasswords(), settings, store } = input;
  const { steady = now } = input;
  const users = userStore(store, now);
  const index = createUserIndex(store);
  const clockwork = { now, onError, ...(input.schedule === undefined ? {} : { schedule: input.schedule }) };
  const tokens = await openTokens(store, clockwork);
  const throttle = await openLoginThrottle(store, { ...clockwork, now: steady });
  const { rehash } = users;
  const logins = createLogins({ users: index, passwords, throttle, rehash, now: steady, onError });
  const bootstrap = await openBootstrap({ dataDir, users, passwords, throttle, now: steady });
  const renewal = settings.tokenRenewal;
  const auth = { users: index, tokens, logins, throttle, ownerKey, renewal, now };
  const { loggedIn } = users;
  return {
    ...createLoginTokens({ users: index, tokens, settings, loggedIn, now }),
    authenticate: (facts) => authenticateManagement(facts, auth),
    offer: bootstrap.offer,
    checkSetUp: bootstrap.checkSetUp,
    setUp: bootstrap.setUp,
    parts: { users, index, tokens, logins, passwords, views: savedViewStore(store, now), now },
    async close() {
      bootstrap.close();
      await tokens.close();
      await throttle.close();
    },
  };
}
