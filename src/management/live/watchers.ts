import { GatewayError } from '../../lib/error.ts';

/** The login of a watcher. */
export interface WatcherLogin {
  userId: string;
  /** When it ends, in milliseconds since the epoch; null where it does not. */
  until: number | null;
  /** Whether it still is one that may watch this: it may be ended before its time. */
  lasts(): Promise<boolean>;
}

/** The watchers of live events, in any protocol: so many at most, and each for as long as their login lasts. */
export interface Watchers {
  /**
   * @param end called when the login has ended, more than once where it does not help
   * @returns what is called when the watching has ended
   * @throws GatewayError `rate_limit_exceeded` where the user, or all users together, have too many streams
   */
  enter(login: WatcherLogin, end: () => void): () => void;
}

interface Watcher {
  login: WatcherLogin;
  end(): void;
}

const MAX_WATCHERS = 64;
/** A dashboard has one for each of its windows; no user takes those of the others. */
const MAX_WATCHERS_OF_USER = 8;
const RETRY_AFTER_S = 30;
/** How soon a login that was ended is noticed. */
const LOOK_MS = 1000;
/** The longest time of a timer of Node.js. */
const MAX_TIMER_MS = 2_147_483_647;

export function createWatchers(now: () => number = Date.now): Watchers {
  const watchers = new Set<Watcher>();
  let looking: NodeJS.Timeout | undefined;
  return {
    enter(login, end) {
      refuseCrowd(watchers, login.userId);
      const watcher: Watcher = { login, end };
      watchers.add(watcher);
      looking ??= setInterval(() => endThoseLoggedOut(watchers), LOOK_MS).unref();
      const leftMs = login.until === null ? Number.POSITIVE_INFINITY : Math.max(0, login.until - now());
      const timer = leftMs > MAX_TIMER_MS ? undefined : setTimeout(end, leftMs).unref();
      return () => {
        clearTimeout(timer);
        watchers.delete(watcher);
        if (watchers.size > 0) return;
        clearInterval(looking);
        looking = undefined;
      };
    },
  };
}

/** @throws GatewayError `rate_limit_exceeded` */
function refuseCrowd(watchers: ReadonlySet<Watcher>, userId: string): void {
  const own = [...watchers].filter(({ login }) => login.userId === userId).length;
  if (own >= MAX_WATCHERS_OF_USER)
    throw new GatewayError(
      'rate_limit_exceeded',
      `You have ${own} live streams open, and may have ${MAX_WATCHERS_OF_USER}: close one of them`,
      { retryAfter: RETRY_AFTER_S },
    );
  if (watchers.size >= MAX_WATCHERS)
    throw new GatewayError(
      'rate_limit_exceeded',
      `All users together have ${watchers.size} live streams open, and may have ${MAX_WATCHERS}: try again later`,
      { retryAfter: RETRY_AFTER_S },
    );
}

function endThoseLoggedOut(watchers: Iterable<Watcher>): void {
  for (const { end, login } of watchers)
    login.lasts().then(
      (lasts) => lasts || end(),
      // Permissions cannot be read just now, so all watchers are closed.
      () => end(),
    );
}
