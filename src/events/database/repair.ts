import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { letterSize } from '../dead-letters/letter-calls.ts';
import { prepareTables } from './tables.ts';

/** What came of a repair. */
export interface RepairReport {
  /** False: nothing is wrong with the file, and nothing was changed. */
  readonly damaged: boolean;
  /** Events that wait in channels or for another attempt. */
  readonly events: number;
  readonly deadLetters: number;
  /** Handled events that triggers with `enable_idempotence` remember. */
  readonly remembered: number;
  /** Events that some trigger waits for and that could not be read. */
  readonly lost: number;
  /** Tables of which a part, or all, could not be read. */
  readonly unreadable: readonly string[];
  /** The damaged file; null where nothing was changed. */
  readonly movedTo: string | null;
}

type Row = Record<string, SQLInputValue>;

/** Files that belong to a database. */
const SUFFIXES = ['', '-wal', '-shm'];
const PAGE_ROWS = 200;
/** At the beginning of a file: https://www.sqlite.org/fileformat.html#the_database_header */
const HEADER_BYTES = 100;
/** No database of events is larger. */
const MOST_BYTES = 1_073_741_824;
/** Between two readable numbers, rows are looked for one by one, unless there may be more than this. */
const MOST_PROBES = 1_000_000;

/**
 * Copies everything that can be read of a damaged database of events into a new one, and puts it in its place. What may have been
 * delivered already is kept as well: rather twice than lost.
 * @param name what the damaged file is called from then on
 * @throws Error when the file is not there, or the new one cannot be written
 */
export function repairEventDatabase(path: string, name: string): RepairReport {
  if (!existsSync(path)) throw new Error(`There is no file ${path}`);
  const intact = isIntact(path);
  const fresh = `${path}.repaired`;
  remove(fresh);
  if (intact) return { ...contentOf(path), damaged: false, lost: 0, unreadable: [], movedTo: null };
  const target = new DatabaseSync(fresh);
  const unreadable: string[] = [];
  let lost = 0;
  try {
    prepareTables(target);
    const source = openReadOnly(withWholeLength(path));
    target.exec('begin immediate');
    for (const table of tablesOf(target))
      if (source === null || !copyTable(source, target, table)) unreadable.push(table);
    continueNumbers(source, target);
    source?.close();
    lost = mendDeliveries(target, unreadable.includes('deliveries'));
    countLetters(target);
    target.exec('commit');
  } finally {
    target.close();
    remove(lengthenedOf(path));
  }
  for (const suffix of SUFFIXES)
    if (existsSync(`${path}${suffix}`)) renameSync(`${path}${suffix}`, `${name}${suffix}`);
  renameSync(fresh, path);
  return { ...contentOf(path), damaged: true, lost, unreadable, movedTo: name };
}

function isIntact(path: string): boolean {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return database.prepare('pragma integrity_check(1)').get()?.['integrity_check'] === 'ok';
  } catch {
    return false;
  } finally {
    database.close();
  }
}

/** Null for a file that is no database. */
function openReadOnly(path: string): DatabaseSync | null {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.prepare('select count(*) from sqlite_schema').get();
    return database;
  } catch {
    database.close();
    return null;
  }
}

const lengthenedOf = (path: string): string => `${path}.lengthened`;

/** SQLite reads nothing of a file whose end is missing. @returns the file, or a copy with zeros at its end */
function withWholeLength(path: string): string {
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, 'r');
  const read = readSync(file, header, 0, HEADER_BYTES, 0);
  closeSync(file);
  // 1 stands for 65,536.
  const pageBytes = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  const wholeBytes = header.readUInt32BE(28) * pageBytes;
  if (read < HEADER_BYTES || statSync(path).size >= wholeBytes || wholeBytes > MOST_BYTES) return path;
  const copy = lengthenedOf(path);
  for (const suffix of SUFFIXES)
    if (existsSync(`${path}${suffix}`)) copyFileSync(`${path}${suffix}`, `${copy}${suffix}`);
  truncateSync(copy, wholeBytes);
  return copy;
}

function remove(path: string): void {
  for (const suffix of SUFFIXES) rmSync(`${path}${suffix}`, { force: true });
}

function tablesOf(database: DatabaseSync): string[] {
  const named =
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name";
  return database
    .prepare(named)
    .all()
    .map(({ name }) => String(name));
}

/** @returns whether all of it could be read */
function copyTable(source: DatabaseSync, target: DatabaseSync, table: string): boolean {
  const columns = columnsOf(target, table);
  const names = columns.map(({ name }) => name);
  const marks = names.map(() => '?').join(', ');
  const insert = target.prepare(`insert or replace into ${table} (${names.join(', ')}) values (${marks})`);
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
  const keys = key.length === 0 ? ['rowid'] : key.map(({ name }) => name);
  const isNumbered = key.length === 0 || (key.length === 1 && key[0]?.type === 'INTEGER');
  const walk = walker(source, table, names, keys, (row) => {
    insert.run(...names.map((name) => row[name] ?? null));
  });
  const first = walk('asc', null);
  if (first.complete) return true;
  const last = walk('desc', first.reached);
  if (isNumbered) walk.probe(first.reached, last.reached);
  return false;
}

interface RowWalk {
  readonly complete: boolean;
  /** The key of the last row that could be read; null for none. */
  readonly reached: readonly SQLInputValue[] | null;
}

/** Reads rows in the order of their key, from either end, until one cannot be read. */
function walker(
  source: DatabaseSync,
  table: string,
  names: readonly string[],
  keys: readonly string[],
  copy: (row: Row) => void,
) {
  const selected = [...new Set([...names, ...keys])].join(', ');
  const tuple = `(${keys.join(', ')})`;
  const marks = `(${keys.map(() => '?').join(', ')})`;
  const keyOf = (row: Row) => keys.map((name) => row[name] ?? null);
  const walk = (order: 'asc' | 'desc', stop: readonly SQLInputValue[] | null): RowWalk => {
    const beyond = order === 'asc' ? '>' : '<';
    const ordered = `order by ${keys.map((name) => `${name} ${order}`).join(', ')} limit ?`;
    let reached: readonly SQLInputValue[] | null = null;
    let limit = PAGE_ROWS;
    for (;;) {
      const conditions = [
        ...(reached === null ? [] : [`${tuple} ${beyond} ${marks}`]),
        ...(stop === null ? [] : [`${tuple} > ${marks}`]),
      ];
      const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
      try {
        const rows = source
          .prepare(`select ${selected} from ${table} ${where} ${ordered}`)
          .all(...(reached ?? []), ...(stop ?? []), limit) as Row[];
        for (const row of rows) copy(row);
        const last = rows.at(-1);
        if (last === undefined) return { complete: true, reached };
        const key = keyOf(last);
        // Damaged keys can lead back to where the walk came from.
        if (reached !== null && compareKeys(key, reached) * (order === 'asc' ? 1 : -1) <= 0)
          return { complete: false, reached };
        reached = key;
      } catch {
        // The rows before the one that cannot be read are read one by one.
        if (limit === 1) return { complete: false, reached };
        limit = 1;
      }
    }
  };
  /** Looks for each number between two keys. */
  walk.probe = (from: RowWalk['reached'], to: RowWalk['reached']) => {
    const [first, last] = [Number(from?.[0] ?? 0), Number(to?.[0] ?? 0)];
    if (!(last - first < MOST_PROBES)) return;
    const one = source.prepare(`select ${selected} from ${table} where ${keys[0]} = ?`);
    for (let number = first + 1; number < last; number += 1)
      try {
        const row = one.get(number);
        if (row !== undefined) copy(row as Row);
      } catch {
        // It stands where nothing can be read.
      }
  };
  return walk;
}

/** As SQLite orders them: numbers before texts. */
function compareKeys(a: readonly SQLInputValue[], b: readonly SQLInputValue[]): number {
  for (const [index, one] of a.entries()) {
    const other = b[index] ?? null;
    const order =
      typeof one === 'number' && typeof other === 'number'
        ? one - other
        : Number(typeof one !== 'number') - Number(typeof other !== 'number') ||
          Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
    if (order !== 0) return order;
  }
  return 0;
}

interface Column {
  readonly name: string;
  readonly type: string;
  /** Its place in the primary key, from 1; 0 outside. */
  readonly pk: number;
}

function columnsOf(database: DatabaseSync, table: string): Column[] {
  return database
    .prepare('select name, upper(type) as type, pk from pragma_table_info(?)')
    .all(table)
    .map(({ name, pk, type }) => ({ name: String(name), type: String(type), pk: Number(pk) }));
}

/**
 * Lets every event wait for somebody, and nobody for an event that is not there.
 * @param incomplete whether it is not known who waits for what
 * @returns events that somebody waited for
 */
function mendDeliveries(target: DatabaseSync, incomplete: boolean): number {
  const missing = target
    .prepare('select count(distinct seq) as count from deliveries where seq not in (select seq from events)')
    .get();
  target.exec('delete from deliveries where seq not in (select seq from events)');
  target.exec('delete from deliveries where consumer not in (select id from consumers)');
  if (incomplete)
    target.exec(`insert or ignore into deliveries (consumer, seq, due, leased, attempt, crashes)
      select consumers.id, events.seq, 0, 0, 1, 0 from events
        join consumers on consumers.topic = events.topic and consumers.subscribed = 1`);
  // The consumer without a name stands for the first who subscribes.
  const unawaited = 'from events where seq not in (select seq from deliveries)';
  target.exec(
    `insert or ignore into consumers (topic, name, subscribed) select distinct topic, '', 0 ${unawaited}`,
  );
  target.exec(`insert into deliveries (consumer, seq, due, leased, attempt, crashes)
    select (select id from consumers where topic = events.topic and name = ''), seq, 0, 0, 1, 0 ${unawaited}`);
  return Number(missing?.['count'] ?? 0);
}

/** No number is given twice: dead letters name the messages that they come from by number. */
function continueNumbers(source: DatabaseSync | null, target: DatabaseSync): void {
  const highest = (database: DatabaseSync, sql: string): number => {
    try {
      return Number(database.prepare(sql).get()?.['highest'] ?? 0);
    } catch {
      return 0;
    }
  };
  const sequence = "select seq as highest from sqlite_sequence where name = 'events'";
  const last = Math.max(
    source === null ? 0 : highest(source, sequence),
    highest(target, sequence),
    highest(target, 'select max(seq) as highest from deliveries'),
    highest(target, 'select max(cast(delivery as integer)) as highest from dead_letters'),
  );
  target.exec("delete from sqlite_sequence where name = 'events'");
  target.prepare("insert into sqlite_sequence (name, seq) values ('events', ?)").run(last);
}

function countLetters(target: DatabaseSync): void {
  target.exec('delete from dead_letter_totals');
  const add = target.prepare(`insert into dead_letter_totals values (?, 1, ?2)
    on conflict do update set count = count + 1, bytes = bytes + ?2`);
  for (const { error, event, failures, trigger_id } of target
    .prepare('select trigger_id, error, event, failures from dead_letters')
    .all())
    add.run(
      String(trigger_id),
      letterSize(event as Uint8Array, String(error), typeof failures === 'string' ? failures : null),
    );
}

function contentOf(path: string): Pick<RepairReport, 'events' | 'deadLetters' | 'remembered'> {
  const database = new DatabaseSync(path, { readOnly: true });
  const count = (table: string) =>
    Number(database.prepare(`select count(*) as count from ${table}`).get()?.['count'] ?? 0);
  try {
    return { events: count('events'), deadLetters: count('dead_letters'), remembered: count('handled') };
  } finally {
    database.close();
  }
}
