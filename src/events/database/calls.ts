import type { DatabaseSync } from 'node:sqlite';
import { type CrashCountCalls, crashCountCalls } from '../channels/broker/crash-count-calls.ts';
import { type WaitingRetryCalls, waitingRetryCalls } from '../channels/broker/waiting-retry-calls.ts';
import { type ChannelCalls, channelCalls } from '../channels/sqlite/channel-calls.ts';
import { type LetterCalls, letterCalls } from '../dead-letters/letter-calls.ts';
import { type HandledCalls, handledCalls } from '../idempotence/handled-calls.ts';

/** What the thread of a database of events can be asked: the calls of everything that keeps its rows there. */
export type Calls = ChannelCalls & CrashCountCalls & HandledCalls & LetterCalls & WaitingRetryCalls;
export type CallName = keyof Calls;
export type Input<Name extends CallName> = Parameters<Calls[Name]>[0];
export type Answer<Name extends CallName> = ReturnType<Calls[Name]>;

/** A call on its way to the thread. */
export type Call = { [Name in CallName]: { readonly name: Name; readonly input: Input<Name> } }[CallName];

/** All calls, each inside the transaction of the caller. What they remember of the tables is void after a rollback. */
export function callsOf(database: DatabaseSync): (call: Call) => Answer<CallName> {
  const calls: Calls = {
    ...channelCalls(database),
    ...crashCountCalls(database),
    ...handledCalls(database),
    ...letterCalls(database),
    ...waitingRetryCalls(database),
  };
  return ({ input, name }) => (calls[name] as (argument: typeof input) => Answer<CallName>)(input);
}

/**
 * Calls that do not wait for the disk: what they write stays when the process dies, and when the machine loses its power, a
 * message that was settled comes once more.
 */
export const unsynced: ReadonlySet<CallName> = new Set<CallName>([
  'receive',
  'renew',
  'ack',
  'release',
  'nextDue',
  'depth',
  'beginMessages',
  'releaseMessage',
  'forgetMessage',
]);
