import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type Answer, type Call, type CallName, callsOf, unsynced } from './calls.ts';
import { prepareTables } from './tables.ts';

/**
 * The thread that a database of events lives in, for its writes wait for the disk. All that was asked while it waited goes into
 * one transaction: waiting for the disk costs the same for one event and for hundreds.
 */

/** Calls that were made together. They are answered in their order, together with others. */
export interface Asked {
  readonly first: number;
  readonly calls: readonly Call[];
}

export type Reply =
  | { readonly id: number; readonly answer: Answer<CallName> }
  | { readonly id: number; readonly error: string; readonly full: boolean };

const MOST_AT_ONCE = 2_000;
const SQLITE_FULL = 13;

const port = parentPort;
if (port === null) throw new Error('This is no thread of its own');
const database = new DatabaseSync(String(workerData));
prepareTables(database);
prepareOnce(database);
let run = callsOf(database);
/** Whether a commit waits for the disk. */
let synchronous: 'normal' | 'full' = 'full';

interface Numbered {
  readonly id: number;
  readonly call: Call;
}

port.on('message', (first: Asked | 'close') => {
  const asked: Numbered[] = [];
  let closing = false;
  let next: Asked | 'close' | undefined = first;
  while (next !== undefined) {
    if (next === 'close') closing = true;
    else for (const [index, call] of next.calls.entries()) asked.push({ id: next.first + index, call });
    next = asked.length < MOST_AT_ONCE ? receiveMessageOnPort(port)?.message : undefined;
  }
  // What need not wait for the disk does not wait behind what has to.
  const quick = asked.filter(({ call }) => unsynced.has(call.name));
  if (quick.length > 0) port.postMessage(transaction(quick, 'normal'));
  const slow = asked.filter(({ call }) => !unsynced.has(call.name));
  if (slow.length > 0) port.postMessage(transaction(slow, 'full'));
  if (!closing) return;
  database.close();
  port.close();
});

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
function transaction(asked: readonly Numbered[], mode: typeof synchronous): Reply[] {
  try {
    if (mode !== synchronous) database.exec(`pragma synchronous = ${mode}`);
    synchronous = mode;
    database.exec('begin immediate');
    const replies = asked.map(({ call, id }) => ({ id, answer: run(call) }));
    database.exec('commit');
    return replies;
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    run = callsOf(database);
    return asked.length === 1
      ? asked.map(({ id }) => refusal(id, error))
      : asked.flatMap((one) => transaction([one], mode));
  }
}

function refusal(id: number, error: unknown): Reply {
  const full = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL;
  return { id, error: error instanceof Error ? error.message : String(error), full };
}
