import { DatabaseSync } from 'node:sqlite';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { type Answer, type Operation, operations, prepare } from './sqlite-operations.ts';

/**
 * The thread that a database of events lives in, for its writes wait for the disk. All that was asked while it waited goes into
 * one transaction: waiting for the disk costs the same for one event and for hundreds.
 */

interface Asked {
  readonly id: number;
  readonly operation: Operation;
}

export type Reply =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly error: string; readonly full: boolean };

const MOST_AT_ONCE = 1_000;
const SQLITE_FULL = 13;

const port = parentPort;
if (port === null) throw new Error('This is no thread of its own');
const database = new DatabaseSync(String(workerData));
prepare(database);
const run = operations(database);

port.on('message', (first: Asked | 'close') => {
  const asked: Asked[] = [];
  let closing = false;
  let next: Asked | 'close' | undefined = first;
  while (next !== undefined && asked.length < MOST_AT_ONCE) {
    if (next === 'close') closing = true;
    else asked.push(next);
    next = asked.length < MOST_AT_ONCE ? receiveMessageOnPort(port)?.message : undefined;
  }
  for (const reply of transaction(asked)) port.postMessage(reply);
  if (!closing) return;
  database.close();
  port.close();
});

function transaction(asked: readonly Asked[]): Reply[] {
  if (asked.length === 0) return [];
  try {
    database.exec('begin immediate');
    const replies = asked.map(({ id, operation }) => ({ id, answer: run(operation) }));
    database.exec('commit');
    return replies;
  } catch (error) {
    if (database.isTransaction) database.exec('rollback');
    const message = error instanceof Error ? error.message : String(error);
    const full = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_FULL;
    return asked.map(({ id }) => ({ id, error: message, full }));
  }
}
