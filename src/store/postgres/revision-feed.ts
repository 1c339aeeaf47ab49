import postgres, { type Sql } from 'postgres';
import type { PostgresAddress } from './address.ts';
import { withDeadline } from './deadline.ts';
import { REVISION_CHANNEL } from './definitions.ts';
import { connectionOptions } from './pool.ts';

/** How often the revision is asked for, should a notification be lost; and while there are none. */
const POLL_MS = 2_000;
const POLL_ALONE_MS = 500;
const LISTEN_AGAIN_MS = 1_000;
/** A server that is silent for longer is taken for one that is away. */
const ANSWER_MS = 5_000;
/** While it starts it has more to do. */
const FIRST_ANSWER_MS = 15_000;

export interface RevisionFeed {
  /** As far as this process knows. */
  current(): number;
  /** Asks the database. @throws what postgres.js throws */
  refresh(): Promise<number>;
  close(): Promise<void>;
}

export interface RevisionFeedInput {
  address: PostgresAddress;
  sql(): Sql;
  /** Whether the changes of others are followed; a command that ends soon need not. */
  follow: boolean;
  /** Called with how each look at the database ended: null for well. */
  onLookEnd(error: unknown): void;
}

/**
 * The revision of the settings: told by the server when it changes (LISTEN), and asked for every two seconds besides, or twice
 * a second while the server cannot tell,
 * which also notices a server that went away.
 */
export async function openRevisionFeed({
  address,
  onLookEnd,
  follow,
  sql,
}: RevisionFeedInput): Promise<RevisionFeed> {
  let value = 0;
  let closing = false;
  let asked = 0;
  let answered = 0;
  const refresh = async (): Promise<number> => {
    asked += 1;
    const turn = asked;
    const [row] = await sql().unsafe('select value from revision', [], { prepare: address.prepare });
    // An answer that was overtaken says what was.
    if (turn > answered) {
      answered = turn;
      value = Number(row?.['value'] ?? 0);
    }
    return value;
  };
  await withDeadline(refresh(), FIRST_ANSWER_MS);
  if (!follow) return { current: () => value, refresh, close: async () => {} };

  const look = () => withDeadline(refresh(), ANSWER_MS).then(() => onLookEnd(null), onLookEnd);
  let listening = false;
  let lookedAt = performance.now();
  const poll = setInterval(() => {
    if (listening && performance.now() - lookedAt < POLL_MS) return;
    lookedAt = performance.now();
    void look();
  }, POLL_ALONE_MS);
  poll.unref();
  let listener: Sql | null = null;
  let again: NodeJS.Timeout | null = null;
  const listen = (): void => {
    const own = postgres({
      ...connectionOptions(address),
      max: 1,
      connection: { application_name: 'modelgate' },
      onnotify: () => void look(),
      onclose: () => lost(own),
    } as never) as Sql;
    listener = own;
    own.unsafe(`listen ${REVISION_CHANNEL}`).then(
      () => {
        listening = listener === own;
        return look();
      },
      () => lost(own),
    );
  };
  const lost = (own: Sql) => {
    if (closing || listener !== own) return;
    listener = null;
    listening = false;
    void own.end({ timeout: 0 }).catch(() => {});
    again = setTimeout(listen, LISTEN_AGAIN_MS);
    again.unref();
  };
  listen();
  return {
    current: () => value,
    refresh,
    async close() {
      closing = true;
      clearInterval(poll);
      if (again !== null) clearTimeout(again);
      await listener?.end({ timeout: 0 });
    },
  };
}
