import { GatewayError } from '../../lib/error.ts';
import { hashPassword, verifyPassword } from './password.ts';

/** Hashing and checking of passwords, a few at a time. */
export interface Passwords {
  /** A PHC string. @throws GatewayError `rate_limit_exceeded` when too many wait */
  hash(password: string): Promise<string>;
  /** @throws GatewayError `rate_limit_exceeded` when too many wait */
  verify(password: string, phc: string): Promise<boolean>;
}

export interface PasswordsOptions {
  /** How many are worked on at once: each takes 128 MiB and a core. */
  concurrency?: number;
  /** How many may wait for their turn: with two at work, eight wait about a second and a half. */
  waiting?: number;
  /** What does the work. */
  work?: { hash(password: string): Promise<string>; verify(password: string, phc: string): Promise<boolean> };
}

/**
 * Keeps the hashing of passwords, which is costly so that guessing is, from being used against the gateway: memory and
 * time that it takes are bounded, and requests beyond that are told to retry later.
 */
export function createPasswords(options: PasswordsOptions = {}): Passwords {
  const { concurrency = 2, waiting = 8, work = { hash: hashPassword, verify: verifyPassword } } = options;
  const queue: (() => void)[] = [];
  let busy = 0;
  const bounded = async <T>(run: () => Promise<T>): Promise<T> => {
    if (busy >= concurrency) {
      if (queue.length >= waiting) throw crowded();
      // Whoever ends hands over its place, so that `busy` stays as it is.
      await new Promise<void>((resolve) => queue.push(resolve));
    } else busy += 1;
    try {
      return await run();
    } finally {
      const next = queue.shift();
      if (next === undefined) busy -= 1;
      else next();
    }
  };
  return {
    hash: (password) => bounded(() => work.hash(password)),
    verify: (password, phc) => bounded(() => work.verify(password, phc)),
  };
}

function crowded(): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    'Many passwords are being checked right now: try again in a few seconds, or use a token',
    { retryAfter: 2 },
  );
}
