import type { TestContext } from 'node:test';
import { type AccessControl, openAccessControl } from '../../../src/access/access-control.ts';
import type { TokenSettings } from '../../../src/access/login/tokens.ts';
import type { AuthFacts } from '../../../src/access/manage-auth.ts';
import { createPasswords } from '../../../src/access/passwords/passwords.ts';
import type { Role } from '../../../src/access/permissions.ts';
import type { UserRecord } from '../../../src/access/users/schema.ts';
import type { Caller } from '../../../src/http/resource.ts';
import { openStore, type Store } from '../../../src/store/database.ts';
import { temporaryFolder } from '../machine/folder.ts';

/** A clock that stands until it is moved. Milliseconds since the epoch, on a whole second. */
export interface Clock {
  time: number;
}

export interface OpenAccess {
  clock: Clock;
  dataDir: string;
  store: Store;
  control: AccessControl;
  /** How many passwords were hashed or checked so far. */
  worked: () => number;
  /** Adds a user whose password is `secret of NAME`. */
  user(name: string, role: Role): Promise<UserRecord>;
  /** The caller, or the refusal's reason and message. */
  enter(headers: readonly string[], address?: string): Promise<Caller | { reason: string; message: string }>;
  /** Logs a user in. @returns the token */
  login(name: string, requester?: string): Promise<string>;
  /** The caller that headers make. @throws the refusal's error */
  caller(headers: readonly string[], address?: string): Promise<Caller>;
  /** Closes everything and opens it again on the same folder. */
  reopen(): Promise<void>;
}

const usual: TokenSettings = {
  tokenTtlSeconds: 600,
  uiTokenTtlSeconds: 3600,
  tokenRenewal: 'fixed',
  tokenMaxLifetimeSeconds: 43_200,
};

export const ownerKey = 'sk-local-0123456789abcdef0123456789abcdef';

export function basic(name: string, password = `secret of ${name}`): string[] {
  return ['Authorization', `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`];
}

export function token(text: string): string[] {
  return ['X-Auth-Token', text];
}

/** Everything behind the management API's door, on a folder of its own, with hashing that costs nothing. */
export async function openAccess(
  test: TestContext,
  settings: Partial<TokenSettings> = {},
): Promise<OpenAccess> {
  let close = async () => {};
  // Before the folder goes.
  test.after(() => close());
  const dataDir = temporaryFolder(test);
  const clock: Clock = { time: 1_800_000_000_000 };
  const now = () => clock.time;
  let work = 0;
  const passwords = createPasswords({
    work: {
      async hash(password) {
        work += 1;
        return `plain:${password}`;
      },
      async verify(password, phc) {
        work += 1;
        return phc === `plain:${password}`;
      },
    },
  });
  const open = async () => {
    const store = await openStore(dataDir, { now });
    const control = await openAccessControl({
      store,
      dataDir,
      ownerKey,
      now,
      passwords,
      settings: { ...usual, ...settings },
      onError: (error) => {
        throw error;
      },
    });
    return { store, control };
  };
  const facts = (rawHeaders: readonly string[], address: string): AuthFacts => ({
    rawHeaders,
    address,
    requestId: 'req_1',
  });
  const access: OpenAccess = {
    ...(await open()),
    clock,
    dataDir,
    worked: () => work,
    user: (name: string, role: Role) =>
      access.control.parts.users.add({ name, role, displayName: null, password: `plain:secret of ${name}` }),
    async enter(headers: readonly string[], address = '127.0.0.1') {
      const result = await access.control.authenticate(facts(headers, address));
      return 'error' in result ? { reason: result.reason, message: result.error.message } : result;
    },
    async caller(headers: readonly string[], address = '127.0.0.1') {
      const result = await access.control.authenticate(facts(headers, address));
      if ('error' in result) throw result.error;
      return result;
    },
    async login(name: string, requester = 'api') {
      return (await access.control.issue(await access.caller(basic(name)), requester)).token;
    },
    async reopen() {
      await close();
      const again = await open();
      access.store = again.store;
      access.control = again.control;
    },
  };
  close = async () => {
    await access.control.close();
    await access.store.close();
  };
  return access;
}
