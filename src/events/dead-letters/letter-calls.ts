import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { type FailedAttempt, failuresOf, failuresText } from '../channels/failed-attempt.ts';

/** Why an event is a dead letter, and whose. Times in milliseconds since the epoch. */
export interface LetterFacts {
  readonly trigger: string;
  readonly channel: string;
  readonly reason: DeadLetterReason;
  readonly attempts: number;
  readonly status: number | null;
  readonly error: string;
  readonly at: number;
  /** The attempts that failed, the oldest first; not all of very many, and none of a letter of an earlier version. */
  readonly failures: readonly FailedAttempt[];
}

export type DeadLetterReason = 'exhausted' | 'nonretryable' | 'crashloop' | 'expired' | 'poison' | 'removed';

/** A dead letter with the bytes of its event, as a row has it. */
export interface LetterRow extends LetterFacts {
  readonly seq: number;
  readonly event: Uint8Array;
  /** Whether the bytes are those that were written. */
  readonly intact: boolean;
}

export interface NewLetter extends LetterFacts {
  /** Of the event: one trigger has one letter for both. */
  readonly source: string;
  readonly id: string;
  /** The channel's handle of the message that the event came in. */
  readonly delivery: string;
  readonly event: Uint8Array;
  /** Of all letters of the trigger, this one included. */
  readonly maxBytes: number;
  /** Whether older letters of the trigger make room for this one. */
  readonly makeRoom: boolean;
}

export interface LetterCount {
  readonly trigger: string;
  readonly count: number;
  readonly bytes: number;
}

export interface LetterCalls {
  /** `copied`: the same letter was copied to its channel before. */
  addLetter(
    input: NewLetter,
  ): { readonly kind: 'added'; readonly copied: boolean } | { readonly kind: 'full' };
  /** The letter's copy is in its channel. */
  markCopied(input: { readonly trigger: string; readonly source: string; readonly id: string }): null;
  /** Whether the event of a message is a dead letter already. */
  hasLetter(input: {
    readonly trigger: string;
    readonly channel: string;
    readonly delivery: string;
  }): boolean;
  /** The oldest first, beginning behind `after`. */
  listLetters(input: {
    readonly trigger: string | null;
    readonly after: number;
    readonly limit: number;
  }): LetterRow[];
  getLetter(input: { readonly seq: number }): LetterRow | null;
  /** How many of them there were. */
  removeLetters(input: { readonly seqs: readonly number[] }): number;
  countLetters(input: Record<string, never>): LetterCount[];
}

export const letterTables = `
  create table if not exists dead_letters (
    seq integer primary key autoincrement, trigger_id text not null, source text not null, id text not null,
    channel text not null, delivery text not null, reason text not null, attempts integer not null,
    status integer, error text not null, at integer not null, copied integer not null,
    event blob not null, checksum integer not null,
    unique (trigger_id, source, id)
  );
  create index if not exists dead_letters_by_trigger on dead_letters (trigger_id, seq);
  create index if not exists dead_letters_by_delivery on dead_letters (trigger_id, channel, delivery);
  create table if not exists dead_letter_totals (
    trigger_id text primary key, count integer not null, bytes integer not null
  ) without rowid;
`;

/** What a row takes beside the event. */
const ROW_BYTES = 200;
/** What a letter counts for in its storage, in bytes. */
export const letterSize = (event: Uint8Array, error: string, failures: string | null): number =>
  event.byteLength + error.length + (failures?.length ?? 0) + ROW_BYTES;

const sizeOfRow = (row: Record<string, unknown>): number =>
  letterSize(bytesOf(row['event']), String(row['error']), failuresIn(row));

export function letterCalls(database: DatabaseSync): LetterCalls {
  const sql = (text: string) => database.prepare(text);
  const known = sql(`select seq, event, error, failures, copied from dead_letters
    where trigger_id = ? and source = ? and id = ?`);
  const total = sql('select count, bytes from dead_letter_totals where trigger_id = ?');
  const oldest = sql('select seq from dead_letters where trigger_id = ? order by seq limit 1');
  const one = sql('select * from dead_letters where seq = ?');
  const remove = sql('delete from dead_letters where seq = ?');
  const count = sql(`insert into dead_letter_totals values (?1, ?2, ?3)
    on conflict do update set count = count + ?2, bytes = bytes + ?3`);
  const add = sql('insert into dead_letters values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const copied = sql('update dead_letters set copied = 1 where trigger_id = ? and source = ? and id = ?');
  const ofDelivery = sql(
    'select 1 from dead_letters where trigger_id = ? and channel = ? and delivery = ? limit 1',
  );
  const list = sql('select * from dead_letters where seq > ? order by seq limit ?');
  const listOf = sql('select * from dead_letters where trigger_id = ? and seq > ? order by seq limit ?');
  const counts = sql('select * from dead_letter_totals where count > 0 order by trigger_id');

  const removeOne = (seq: number): boolean => {
    const row = one.get(seq);
    if (row === undefined) return false;
    remove.run(seq);
    count.run(String(row['trigger_id']), -1, -sizeOfRow(row));
    return true;
  };
  const bytesOfTrigger = (trigger: string) => Number(total.get(trigger)?.['bytes'] ?? 0);
  return {
    addLetter(letter) {
      const { error, event, id, makeRoom, maxBytes, source, trigger } = letter;
      const before = known.get(trigger, source, id);
      const failures = failuresText(letter.failures);
      const size = letterSize(event, error, failures);
      const freed = before === undefined ? 0 : sizeOfRow(before);
      if (size > maxBytes) return { kind: 'full' };
      if (!makeRoom && bytesOfTrigger(trigger) - freed + size > maxBytes) return { kind: 'full' };
      if (before !== undefined) removeOne(Number(before['seq']));
      while (bytesOfTrigger(trigger) + size > maxBytes) removeOne(Number(oldest.get(trigger)?.['seq']));
      const { at, attempts, channel, delivery, reason, status } = letter;
      const wasCopied = Number(before?.['copied'] ?? 0);
      add.run(
        trigger,
        source,
        id,
        channel,
        delivery,
        reason,
        attempts,
        status,
        error,
        at,
        wasCopied,
        event,
        crc32(event),
        failures,
      );
      count.run(trigger, 1, size);
      return { kind: 'added', copied: wasCopied === 1 };
    },
    markCopied({ id, source, trigger }) {
      copied.run(trigger, source, id);
      return null;
    },
    hasLetter: ({ channel, delivery, trigger }) => ofDelivery.get(trigger, channel, delivery) !== undefined,
    listLetters({ after, limit, trigger }) {
      const rows = trigger === null ? list.all(after, limit) : listOf.all(trigger, after, limit);
      return rows.map(letterOf);
    },
    getLetter({ seq }) {
      const row = one.get(seq);
      return row === undefined ? null : letterOf(row);
    },
    removeLetters: ({ seqs }) => seqs.filter(removeOne).length,
    countLetters: () =>
      counts.all().map((row) => ({
        trigger: String(row['trigger_id']),
        count: Number(row['count']),
        bytes: Number(row['bytes']),
      })),
  };
}

const failuresIn = ({ failures }: Record<string, unknown>): string | null =>
  typeof failures === 'string' ? failures : null;

const bytesOf = (value: unknown): Uint8Array => (value instanceof Uint8Array ? value : new Uint8Array());

function letterOf(row: Record<string, unknown>): LetterRow {
  const event = bytesOf(row['event']);
  return {
    seq: Number(row['seq']),
    trigger: String(row['trigger_id']),
    channel: String(row['channel']),
    reason: row['reason'] as DeadLetterReason,
    attempts: Number(row['attempts']),
    status: row['status'] === null ? null : Number(row['status']),
    error: String(row['error']),
    at: Number(row['at']),
    failures: failuresOf(row['failures']),
    event,
    intact: crc32(event) === row['checksum'],
  };
}
