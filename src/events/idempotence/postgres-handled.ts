import type { Sql } from 'postgres';
import type { Log } from '../../lib/log.ts';
import { inTransaction, lockOf, openTransaction } from '../../store/postgres/transaction.ts';
import type { Address } from '../channels/broker/address.ts';
import { redactedError } from '../channels/broker/address.ts';
import { createReconnectingConnection } from '../channels/broker/reconnecting-connection.ts';
import { createBatches } from '../channels/postgres/batches.ts';
import type { HandledKey, HandlingOutcome } from './handled-calls.ts';
import type { HandledStore } from './handled-store.ts';

/** For how long an event is kept for a gateway that has died. */
const LEASE_MS = 8_000;
/** For how long it is kept for one that may be alive: its connection stands, but nothing comes from it. Twice what an attempt may take. */
const KEPT_MS = 60_000;
/** After how long a connection that does not answer is given up: soon enough to renew claims on the next one. */
const SILENT_MS = 6_000;
/** Which part of a lease has to be left when an event goes to its receiver. */
const MARGIN = 1 / 8;
const MAX_CALLS = 20_000;
/** Each mark makes room for itself and one more, so the table shrinks to what still counts. */
const FORGET_AT_ONCE = 2;
/** For how long a claim is remembered that nobody settled. */
const UNSETTLED = "interval '1 day'";

/**
 * `until` is when the outcome is forgotten, and `claimed_until` when the event is free for another gateway if the one that claimed it
 * has died: by the clock of the server, which all gateways share. `claimed_by` is the name of the gateway, a space, and the process of
 * the server that its connection had: as long as that lives, the gateway may. An event without an outcome was claimed, and not finished.
 */
const table = `
  create table modelgate_handled (
    trigger_id text not null, source text not null, id text not null,
    outcome text, fingerprint bigint, until timestamptz not null,
    claimed_by text, claimed_until timestamptz,
    primary key (trigger_id, source, id)
  );
  create index modelgate_handled_by_end on modelgate_handled (until);
`;

/** Whoever takes it makes the table; others wait. A number by chance. */
const LOCK = 7_348_910_226;

export interface SharedHandledInput {
  readonly address: Address;
  /** Names this gateway, and no other, now and after it was started again. */
  instance(): Promise<string>;
  readonly log: Log;
  /** In milliseconds; for tests. */
  readonly times?: { readonly leaseMs: number; readonly keptMs: number; readonly silentMs: number };
}

export interface SharedHandled extends HandledStore {
  /** Never rejects. */
  close(): Promise<void>;
}

interface Claiming {
  readonly key: HandledKey;
  readonly replayed: boolean;
  answer: 'claimed' | 'busy' | HandlingOutcome;
}

interface HeldClaim {
  readonly key: HandledKey;
  /** Until when no other gateway gets it, by the clock of this process. */
  until: number;
}

interface Marking extends HandlingOutcome {
  readonly key: HandledKey;
  readonly ms: number;
}

/**
 * Which events were handled, in a PostgreSQL database that several gateways share. Whoever handles an event holds a lease on it,
 * so that no other gateway handles it at the same time. A lease that is not renewed ends when the server has lost the connection
 * of the gateway, as it does when the process ends, and much later while the connection stands: then the gateway is cut off or
 * paused, and the event may be with its receiver.
 */
export function createPostgresHandled({ address, instance, log, times }: SharedHandledInput): SharedHandled {
  const { keptMs, leaseMs, silentMs } = times ?? { keptMs: KEPT_MS, leaseMs: LEASE_MS, silentMs: SILENT_MS };
  const gateway = instance();
  gateway.catch(() => {});
  let connectedAt = Number.POSITIVE_INFINITY;
  const connection = createReconnectingConnection({
    broker: {
      async connect(onLost) {
        const { connectPostgres } = await import('../channels/postgres/connect-postgres.ts');
        const lost = (error: Error) => onLost(redactedError(error, address));
        try {
          return await connectPostgres(address, { prepare, onEvents: null }, lost);
        } catch (error) {
          throw redactedError(error, address);
        }
      },
    },
    maxCalls: MAX_CALLS,
    silentMs,
    onConnected() {
      log.info('the shared database of events is connected');
      connectedAt = performance.now();
      renewAll();
    },
    onLost: (error) => log.warn({ error: error.message }, 'the shared database of events cannot be reached'),
  });
  const run = <T>(work: (sql: Sql) => Promise<T>): Promise<T> => connection.run(({ sql }) => work(sql));
  /** What this gateway has claimed, by name. */
  const claims = new Map<string, HeldClaim>();
  const renewAll = () => {
    if (claims.size > 0 && connection.problem() === null) void renew().catch(() => {});
  };
  const renewal = setInterval(renewAll, leaseMs / 3);
  renewal.unref();
  const renew = async () => {
    const owner = await gateway;
    const until = performance.now() + leaseMs;
    const held = [...claims.values()];
    const [triggers, sources, ids] = columnsOf(held.map(({ key }) => key));
    const renewed = await run(
      (sql) => sql`update modelgate_handled as handled
        set claimed_by = ${owner} || ' ' || pg_backend_pid(),
          claimed_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
        from unnest(${triggers}::text[], ${sources}::text[], ${ids}::text[]) as mine (trigger_id, source, id)
        where handled.trigger_id = mine.trigger_id and handled.source = mine.source and handled.id = mine.id
          and split_part(claimed_by, ' ', 1) = ${owner}
        returning handled.trigger_id as trigger, handled.source, handled.id`,
    );
    const names = new Set(renewed.map(nameOf));
    for (const one of held) one.until = names.has(nameOf(one.key)) ? until : Number.NEGATIVE_INFINITY;
  };

  const claimAll = (replayed: boolean) =>
    createBatches<Claiming>(async (unsorted) => {
      const items = inOneOrder(unsorted);
      const owner = await gateway;
      const until = performance.now() + leaseMs;
      const [triggers, sources, ids] = columnsOf(items.map(({ key }) => key));
      const claimed = await run(
        (sql) => sql`insert into modelgate_handled as handled
            (trigger_id, source, id, until, claimed_by, claimed_until)
          select trigger_id, source, id, clock_timestamp() + ${sql.unsafe(UNSETTLED)},
            ${owner} || ' ' || pg_backend_pid(), clock_timestamp() + ${leaseMs} * interval '1 millisecond'
          from unnest(${triggers}::text[], ${sources}::text[], ${ids}::text[]) with ordinality
            as wanted (trigger_id, source, id, place)
          order by place
          on conflict (trigger_id, source, id) do update
          set claimed_by = excluded.claimed_by, claimed_until = excluded.claimed_until,
            outcome = case when handled.until > clock_timestamp() then handled.outcome end,
            until = greatest(handled.until, excluded.until)
          where (handled.outcome is null or handled.until <= clock_timestamp()
              or (${replayed} and handled.outcome = 'dead'))
            and (handled.claimed_by is null or split_part(handled.claimed_by, ' ', 1) = ${owner}
              or handled.claimed_until <= clock_timestamp() - ${keptMs - leaseMs} * interval '1 millisecond'
              or (handled.claimed_until <= clock_timestamp() and ${knowsTheDead()} and not exists (
                select from pg_stat_activity where pid::text = split_part(handled.claimed_by, ' ', 2)
              )))
          returning trigger_id as trigger, source, id`,
      );
      const ours = new Set(claimed.map(nameOf));
      const others = items.filter(({ key }) => !ours.has(nameOf(key)));
      const outcomes = others.length === 0 ? new Map() : await outcomesOf(others.map(({ key }) => key));
      for (const item of items) {
        const name = nameOf(item.key);
        const outcome: HandlingOutcome | undefined = outcomes.get(name);
        if (ours.has(name)) {
          claims.set(name, { until, key: item.key });
          item.answer = 'claimed';
        } else if (outcome !== undefined && !(item.replayed && outcome.outcome === 'dead'))
          item.answer = outcome;
      }
    });
  /** After a restart of the server no gateway has the connection that it had: each gets time to claim again what it has in hand. */
  const knowsTheDead = () => performance.now() - connectedAt > leaseMs;
  const claimFirst = claimAll(false);
  const claimReplayed = claimAll(true);

  const outcomesOf = async (keys: readonly HandledKey[]): Promise<Map<string, HandlingOutcome>> => {
    const [triggers, sources, ids] = columnsOf(keys);
    const rows = await run(
      (sql) => sql`select trigger_id as trigger, source, id, outcome, fingerprint from modelgate_handled
        where (trigger_id, source, id) in (
            select * from unnest(${triggers}::text[], ${sources}::text[], ${ids}::text[])
          ) and outcome is not null and until > clock_timestamp()`,
    );
    return new Map(rows.map((row) => [nameOf(row), handledOf(row)]));
  };

  const markAll = createBatches<Marking>(async (unsorted) => {
    const items = inOneOrder(unsorted);
    const [triggers, sources, ids] = columnsOf(items.map(({ key }) => key));
    const outcomes = items.map(({ outcome }) => outcome);
    const fingerprints = items.map(({ fingerprint }) => fingerprint);
    const times = items.map(({ ms }) => ms);
    await run(async (sql) => {
      await sql`insert into modelgate_handled (trigger_id, source, id, outcome, fingerprint, until)
        select trigger_id, source, id, outcome, fingerprint, clock_timestamp() + ms * interval '1 millisecond'
        from unnest(${triggers}::text[], ${sources}::text[], ${ids}::text[], ${outcomes}::text[],
            ${fingerprints}::bigint[], ${times}::float8[]) with ordinality
          as handled (trigger_id, source, id, outcome, fingerprint, ms, place)
        order by place
        on conflict (trigger_id, source, id) do update
        set outcome = excluded.outcome, fingerprint = excluded.fingerprint, until = excluded.until,
          claimed_by = null, claimed_until = null`;
      await sql`delete from modelgate_handled where (trigger_id, source, id) in (
          select trigger_id, source, id from modelgate_handled
          where until <= clock_timestamp() and (claimed_until is null or claimed_until <= clock_timestamp())
          order by until limit ${FORGET_AT_ONCE * items.length} for update skip locked
        )`;
    });
  });

  return {
    async find(key) {
      return (await outcomesOf([key])).get(nameOf(key)) ?? null;
    },
    async claim(key, replayed) {
      const item: Claiming = { key, replayed, answer: 'busy' };
      await (replayed ? claimReplayed(item) : claimFirst(item));
      return item.answer;
    },
    hasClaim(key) {
      const until = claims.get(nameOf(key))?.until ?? Number.NEGATIVE_INFINITY;
      return connection.problem() === null && performance.now() < until - leaseMs * MARGIN;
    },
    async release(key) {
      if (!claims.delete(nameOf(key))) return;
      const owner = await gateway;
      await run(async (sql) => {
        await sql`update modelgate_handled set claimed_by = null, claimed_until = null
          where trigger_id = ${key.trigger} and source = ${key.source} and id = ${key.id}
            and split_part(claimed_by, ' ', 1) = ${owner}`;
      });
    },
    async mark(key, { fingerprint, outcome }, ms) {
      await markAll({ key, fingerprint, outcome, ms });
      claims.delete(nameOf(key));
    },
    async close() {
      clearInterval(renewal);
      await connection.close();
    },
  };
}

/** Makes the table unless it is there. Its owner may be somebody who does not run the gateway. */
async function prepare(client: Sql): Promise<void> {
  await inTransaction(
    () => openTransaction(client, lockOf(LOCK)),
    async (transaction) => {
      const [found] = await transaction.unsafe(
        `select to_regclass('modelgate_handled') is not null as there`,
      );
      if (found?.['there'] !== true) await transaction.unsafe(table);
    },
  );
}

function nameOf(key: Partial<HandledKey>): string {
  return JSON.stringify([key.trigger, key.source, key.id]);
}

/** Two gateways that lock the same rows do so in the same order, and never wait for each other. */
function inOneOrder<T extends { readonly key: HandledKey }>(items: readonly T[]): T[] {
  const named = items.map((item) => ({ item, name: nameOf(item.key) }));
  return named.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))).map(({ item }) => item);
}

const columnsOf = (keys: readonly HandledKey[]): [string[], string[], string[]] => [
  keys.map(({ trigger }) => trigger),
  keys.map(({ source }) => source),
  keys.map(({ id }) => id),
];

const handledOf = (row: Record<string, unknown>): HandlingOutcome => ({
  outcome: row['outcome'] === 'dead' ? 'dead' : 'done',
  fingerprint: Number(row['fingerprint']),
});
