import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ChannelFull } from '../channels/channel.ts';
import type { Answer, Call, CallName, Input } from './calls.ts';
import type { Reply } from './worker.ts';

/** A database of events, at most 1 GiB. Only one process may have it open. */
export interface EventDatabase {
  /** Resolves when what the call wrote is on the disk. @throws ChannelFull when there is no room */
  ask<Name extends CallName>(name: Name, input: Input<Name>): Promise<Answer<Name>>;
  /** Carries out what was asked, and closes. */
  close(): Promise<void>;
}

interface Pending {
  resolve(answer: Answer<CallName>): void;
  reject(error: Error): void;
}

/** Opens it in a thread of its own. */
export function openEventDatabase(path: string): EventDatabase {
  const file = `./worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
  const thread = new Worker(new URL(file, import.meta.url), {
    workerData: path,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const pending = new Map<number, Pending>();
  const ended = once(thread, 'exit');
  let number = 0;
  let calls: Call[] = [];
  let fault: Error | null = null;
  const fail = (error: Error) => {
    fault ??= error;
    for (const { reject } of pending.values()) reject(fault);
    pending.clear();
  };
  thread.on('message', (replies: readonly Reply[]) => {
    for (const reply of replies) {
      const call = pending.get(reply.id);
      pending.delete(reply.id);
      if ('answer' in reply) call?.resolve(reply.answer);
      else call?.reject(reply.full ? new ChannelFull(reply.error) : new Error(reply.error));
    }
  });
  thread.on('error', fail);
  thread.on('exit', () => fail(new Error('The database of events is closed')));
  /** What is asked in one turn of the event loop goes to the thread as one message. */
  const send = () => {
    if (calls.length === 0) return;
    thread.postMessage({ first: number - calls.length + 1, calls });
    calls = [];
  };
  const ask = (call: Call) =>
    new Promise<Answer<CallName>>((resolve, reject) => {
      if (fault !== null) return reject(fault);
      number += 1;
      pending.set(number, { resolve, reject });
      if (calls.push(call) === 1) queueMicrotask(send);
    });
  return {
    ask: (name, input) => ask({ name, input } as Call) as Promise<Answer<typeof name>>,
    async close() {
      send();
      thread.postMessage('close');
      await ended;
    },
  };
}
