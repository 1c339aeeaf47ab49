import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type Answer, type Call, type CallName, callsOf, unsynced } from './calls.ts';
import { createRoom, hasRoom, makesLarger, type Room } from './room.ts';
import { prepareTables } from './tables.ts';

/**
 * The thread that a database of events lives in, for its writes wait for the disk. All that was asked while it waited goes into
 * one transaction: waiting for the disk costs the same for one event and for hundreds.
 */

/** Calls that were made together. They are answered in their order, together with others. */
export interface DatabaseRequest {
  readonly first: number;
  readonly calls: readonly Call[];
}

export type Reply =
  | { readonly id: number; readonly answer: Answer<CallName> }
  | { readonly id: number; readonly error: string; readonly full: boolean };

const MOST_AT_ONCE = 2_000;
/** What one transaction adds at most: as much has to be free on the disk twice, in the log of the database and in its file. */
const MOST_BYTES_AT_ONCE = 2_097_152;
/** How soon a database that could not be opened is tried again. */
const OPEN_AGAIN_MS = 1_000;
/** Result codes of SQLite. */
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

const port = parentPort;
if (port === null) throw new Error('This is no thread of its own');
const path = String(workerData);

interface OpenDatabase {
  readonly database: DatabaseSync;
  readonly room: Room;
  run: ReturnType<typeof callsOf>;
  /** Whether a commit waits for the disk. */
  synchronous: 'normal' | 'full';
}

let opened: OpenDatabase | null = null;
/** Why it could not be opened, or is not used any more. */
let fault: { readonly error: Error; readonly lasts: boolean; readonly at: number } | null = null;

interface NumberedCall {
  readonly id: number;
  readonly call: Call;
}

open();
port.on('message', (first: DatabaseRequest | 'close') => {
  const asked: NumberedCall[] = [];
  let closing = false;
  let next: DatabaseRequest | 'close' | undefined = first;
  while (next !== undefined) {
    if (next === 'close') closing = true;
    else for (const [index, call] of next.calls.entries()) asked.push({ id: next.first + index, call });
    next = asked.length < MOST_AT_ONCE ? receiveMessageOnPort(port)?.message : undefined;
  }
  // What need not wait for the disk does not wait behind what has to.
  const quick = asked.filter(({ call }) => unsynced.has(call.name));
  if (quick.length > 0) port.postMessage(answer(quick, 'normal'));
  const slow = asked.filter(({ call }) => !unsynced.has(call.name));
  for (const portion of portions(slow)) port.postMessage(answer(portion, 'full'));
  if (!closing) return;
  opened?.database.close();
  port.close();
});

/** Another process may have it, or the disk be full: such a fault passes. */
function open(): void {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(path);
    prepareTables(database);
    prepareOnce(database);
    opened = { database, room: createRoom(database, path), run: callsOf(database), synchronous: 'full' };
    fault = null;
  } catch (error) {
    database?.close();
    failed(error);
  }
}

function failed(error: unknown): void {
  const damaged = [SQLITE_CORRUPT, SQLITE_NOTADB].includes(codeOf(error) & 0xff);
  if (opened !== null && !damaged) return;
  const message = damaged
    ? `${path} is damaged (${messageOf(error)}). Stop the gateway and run \`gateway events repair ${path}\``
    : `${path} cannot be opened: ${messageOf(error)}`;
  fault = { error: new Error(message), lasts: damaged, at: performance.now() };
}

function answer(asked: readonly NumberedCall[], mode: OpenDatabase['synchronous']): Reply[] {
  if (opened === null && fault?.lasts !== true && performance.now() - (fault?.at ?? 0) > OPEN_AGAIN_MS)
    open();
  // What a damaged file says may be wrong.
  if (opened === null || fault?.lasts === true) return asked.map(({ id }) => refusal(id, fault?.error));
  const growing = asked.some(({ call }) => makesLarger(call.name));
  const free = growing ? opened.room.free() : Number.POSITIVE_INFINITY;
  const refused = asked.filter(({ call }) => !hasRoom(call.name, free));
  const replies = refused.map(({ id }) => ({
    id,
    error: 'There is no room in the database or on its disk',
    full: true,
  }));
  const rest = refused.length === 0 ? asked : asked.filter((one) => !refused.includes(one));
  return rest.length === 0 ? replies : [...replies, ...transaction(opened, rest, mode)];
}

/** Calls that together add no more than one transaction may. */
function portions(asked: readonly NumberedCall[]): NumberedCall[][] {
  const all: NumberedCall[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const one of asked) {
    const { input } = one.call;
    const added = input !== null && 'event' in input && input.event !== null ? input.event.byteLength : 0;
    bytes += added;
    if (bytes > MOST_BYTES_AT_ONCE) {
      all.push([]);
      bytes = added;
    }
    all.at(-1)?.push(one);
  }
  return all;
}

/** A rollback makes void what calls remember, not their statements: to prepare all of them anew takes a millisecond. */
function prepareOnce(of: DatabaseSync): void {
  const prepare = of.prepare.bind(of);
  const statements = new Map<string, StatementSync>();
  of.prepare = (text) => {
    const statement = statements.get(text) ?? prepare(text);
    statements.set(text, statement);
    return statement;
  };
}

/** One call that fails does not fail the others. */
function transaction(
  of: OpenDatabase,
  asked: readonly NumberedCall[],
  mode: OpenDatabase['synchronous'],
): Reply[] {
  const { database } = of;
  try {
    if (mode !== of.synchronous) database.exec(`pragma synchronous = ${mode}`);
    of.synchronous = mode;
    database.exec('begin immediate');
    const replies = asked.map(({ call, id }) => ({ id, answer: of.run(call) }));
    database.exec('commit');
    return replies;
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    of.run = callsOf(database);
    failed(error);
    if (fault !== null) return asked.map(({ id }) => refusal(id, fault?.error));
    return asked.length === 1
      ? asked.map(({ id }) => refusal(id, error))
      : asked.flatMap((one) => transaction(of, [one], mode));
  }
}

function refusal(id: number, error: unknown): Reply {
  return { id, error: messageOf(error), full: codeOf(error) === SQLITE_FULL };
}

function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
