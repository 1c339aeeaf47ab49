import type { DatabaseSync } from 'node:sqlite';

/** An event, as a trigger knows it: the CloudEvents specification says that source and id identify it. */
export interface HandledKey {
  readonly trigger: string;
  readonly source: string;
  readonly id: string;
}

/** What became of an event: its processor took it, or it is a dead letter. */
export interface HandlingOutcome {
  readonly outcome: 'done' | 'dead';
  /** A checksum of its data. */
  readonly fingerprint: number;
}

/** What is remembered of handled events. Times in milliseconds since the epoch. */
export interface HandledCalls {
  findHandled(input: HandledKey & { readonly now: number }): HandlingOutcome | null;
  /** Remembers it until a time, in place of what was remembered, and forgets some of what is older than its time. */
  markHandled(input: HandledKey & HandlingOutcome & { readonly now: number; readonly until: number }): null;
}

export const handledTables = `
  create table if not exists handled (
    trigger_id text not null, source text not null, id text not null,
    outcome text not null, fingerprint integer not null, until integer not null,
    primary key (trigger_id, source, id)
  ) without rowid;
  create index if not exists handled_by_end on handled (until);
`;

/** Each mark makes room for itself and one more, so the table shrinks to what still counts. */
const FORGET_AT_ONCE = 2;

export function handledCalls(database: DatabaseSync): HandledCalls {
  const sql = (text: string) => database.prepare(text);
  const find = sql(`select outcome, fingerprint from handled
    where trigger_id = ? and source = ? and id = ? and until > ?`);
  const mark = sql('insert or replace into handled values (?, ?, ?, ?, ?, ?)');
  const ended = sql('select trigger_id, source, id from handled where until <= ? order by until limit ?');
  const forget = sql('delete from handled where trigger_id = ? and source = ? and id = ?');
  return {
    findHandled({ id, now, source, trigger }) {
      const row = find.get(trigger, source, id, now);
      if (row === undefined) return null;
      return {
        outcome: row['outcome'] === 'dead' ? 'dead' : 'done',
        fingerprint: Number(row['fingerprint']),
      };
    },
    markHandled({ fingerprint, id, now, outcome, source, trigger, until }) {
      for (const row of ended.all(now, FORGET_AT_ONCE))
        forget.run(String(row['trigger_id']), String(row['source']), String(row['id']));
      mark.run(trigger, source, id, outcome, fingerprint, until);
      return null;
    },
  };
}
