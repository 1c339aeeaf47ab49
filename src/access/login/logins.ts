import { createHmac, randomBytes } from 'node:crypto';
import { GatewayError } from '../../lib/error.ts';
import type { BasicCredentials } from '../basic.ts';
import { clientOf } from '../client-address.ts';
import { isOutdated, unmatchableHash } from '../passwords/password.ts';
import type { Passwords } from '../passwords/passwords.ts';
import type { UserRecord } from '../users/schema.ts';
import type { UserIndex } from '../users/user-index.ts';
import type { LoginThrottle } from './throttle.ts';

/** Proves users by name and password. */
export interface Logins {
  /**
   * The user that a name and a password belong to; null when they belong to none, whatever the reason.
   * @param address the peer's address, where failures are counted
   * @throws GatewayError `too_many_logins` and `rate_limit_exceeded`, with the seconds to wait
   */
  login(credentials: BasicCredentials, address: string): Promise<UserRecord | null>;
}

export interface LoginsDeps {
  users: UserIndex;
  passwords: Passwords;
  throttle: LoginThrottle;
  /** Stores a hash of today's cost in place of an older one of the same password. */
  rehash(user: UserRecord, phc: string): Promise<void>;
  /** Milliseconds since the epoch. */
  now: () => number;
  onError?: (error: unknown) => void;
}

/** How long a proven password is remembered, for clients that send it with every request. */
const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 1000;

export function createLogins(deps: LoginsDeps): Logins {
  const { now, passwords, throttle, users } = deps;
  const nobody = unmatchableHash();
  const proofs = createProofs(now);
  const inFlight = new Map<string, Promise<boolean>>();

  /** Requests with the same credentials that come together are one try and share its outcome. */
  const verify = (proof: string, user: UserRecord | null, credentials: BasicCredentials, address: string) => {
    const name = `${proof} ${clientOf(address)}`;
    const existing = inFlight.get(name);
    if (existing !== undefined) return existing;
    const release = throttle.reserve(accountOf(credentials.name), address);
    const outcome = passwords.verify(credentials.password, user?.password ?? nobody).finally(() => {
      release();
      inFlight.delete(name);
    });
    inFlight.set(name, outcome);
    return outcome;
  };

  return {
    async login(credentials, address) {
      const account = accountOf(credentials.name);
      const user = (await users.current()).byName(account);
      throttle.check(account, address);
      const proof = proofs.of(user, credentials);
      const right = proofs.has(proof) || (await verify(proof, user, credentials, address));
      // It may have been changed, disabled or deleted while the password was checked.
      const still = user === null ? null : (await users.current()).byId(user.id);
      if (!right || still === null || still.disabled || still.credentialVersion !== user?.credentialVersion) {
        throttle.noteFailure(account, address);
        return null;
      }
      if (!proofs.has(proof)) {
        proofs.add(proof);
        if (isOutdated(still.password)) void renew(deps, still, credentials.password);
      }
      return still;
    },
  };
}

/** The name as it is kept and counted. */
function accountOf(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}

async function renew(
  { onError = () => {}, passwords, rehash }: LoginsDeps,
  user: UserRecord,
  password: string,
) {
  try {
    await rehash(user, await passwords.hash(password));
  } catch (error) {
    // The next login tries again.
    if (!(error instanceof GatewayError)) onError(error);
  }
}

/**
 * Which credentials were proven lately, under a name that only this process can make and that changes with every change
 * of the user's credential.
 */
function createProofs(now: () => number) {
  const key = randomBytes(32);
  const until = new Map<string, number>();
  return {
    of(user: UserRecord | null, { name, password }: BasicCredentials): string {
      const parts = [user?.id ?? '', user?.credentialVersion ?? 0, user?.password ?? '', name, password];
      return createHmac('sha256', key).update(JSON.stringify(parts)).digest('base64url');
    },
    has: (proof: string) => (until.get(proof) ?? 0) > now(),
    add(proof: string): void {
      if (until.size >= MAX_REMEMBERED) for (const [old, time] of until) if (time <= now()) until.delete(old);
      if (until.size >= MAX_REMEMBERED) until.clear();
      until.set(proof, now() + REMEMBERED_MS);
    },
  };
}
