import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../lib/error.ts';
import type { LoginThrottle } from './login/throttle.ts';
import type { Passwords } from './passwords/passwords.ts';
import { passwordProblem } from './passwords/policy.ts';
import type { UserStore } from './users/users.ts';

/** The first login while there is no admin: access to the server's terminal or files permits creating one. */
export interface Bootstrap {
  /** The code in force and when it ends; null when there is an admin. For the terminal only, never for the log. */
  offer(): { code: string; expiresAt: number } | null;
  /** @throws GatewayError `conflict` when there is an admin, `too_many_logins` */
  checkSetUp(address: string): Promise<void>;
  /**
   * Makes the user `admin`, once.
   * @param address the peer's address, where wrong codes are counted
   * @throws GatewayError `unauthorized` for a wrong or old code, `conflict` when there is an admin, `invalid_request`
   *   for a password that is too weak, `too_many_logins`
   */
  setUp(input: { code: string; password: string }, address: string): Promise<void>;
  /** Takes the code's file away. */
  close(): void;
}

export interface BootstrapDeps {
  dataDir: string;
  users: Pick<UserStore, 'hasAdmin' | 'setAdminPassword'>;
  passwords: Passwords;
  throttle: LoginThrottle;
  /** Milliseconds since the epoch. */
  now: () => number;
}

const CODE_BYTES = 20;
const VALID_MS = 60 * 60_000;
/** What wrong codes are counted under; no user can have this name. */
const ACCOUNT = 'setup code';

export function setupCodePath(dataDir: string): string {
  return join(dataDir, 'setup.code');
}

/** Makes a code when there is no admin yet, and leaves it in `DATA_DIR/setup.code` (0600). */
export async function openBootstrap(deps: BootstrapDeps): Promise<Bootstrap> {
  const { dataDir, now, passwords, throttle, users } = deps;
  const path = setupCodePath(dataDir);
  const clear = () => rmSync(path, { force: true });
  let offered: { code: string; expiresAt: number } | null = null;
  if (await users.hasAdmin()) clear();
  else {
    offered = { code: randomBytes(CODE_BYTES).toString('base64url'), expiresAt: now() + VALID_MS };
    writeCode(path, offered.code);
  }
  let isUsed = false;
  const current = () => (offered !== null && offered.expiresAt > now() ? offered : null);
  const checkSetUp = async (address: string) => {
    throttle.check(ACCOUNT, address);
    if (await users.hasAdmin()) throw alreadySetUp();
  };
  return {
    offer: current,
    checkSetUp,
    async setUp({ code, password }, address) {
      await checkSetUp(address);
      const currentCode = current();
      if (currentCode === null || !sameText(code, currentCode.code)) {
        throttle.noteFailure(ACCOUNT, address);
        throw new GatewayError(
          'unauthorized',
          'The setup code is wrong or too old: the server prints one when it starts',
        );
      }
      const problem = passwordProblem(password, 'admin');
      if (problem !== undefined) throw new GatewayError('invalid_request', problem, { param: 'password' });
      // Of several requests with the code, one makes the admin.
      if (isUsed) throw alreadySetUp();
      isUsed = true;
      try {
        await users.setAdminPassword(await passwords.hash(password));
      } finally {
        isUsed = false;
      }
      offered = null;
      clear();
    },
    close: clear,
  };
}

function alreadySetUp(): GatewayError {
  return new GatewayError(
    'conflict',
    'The gateway is set up already: log in, or use `gateway reset-password`',
  );
}

/** Readable by its owner only from the first byte, and whole when it has its name. */
function writeCode(path: string, code: string): void {
  const temporary = `${path}.${process.pid}`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, `${code}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(temporary, path);
}

/** Compares digests, so that the time it takes tells nothing. */
function sameText(a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'));
}

/** What is said of an address that others can reach, where the first of them to come could make the admin. */
export function openToAll(host: string): GatewayError {
  const message = `host ${host} is reachable from other machines, which needs an admin password first: run \`gateway setup\`, or listen on 127.0.0.1`;
  return new GatewayError('invalid_request', message, { param: 'host' });
}
