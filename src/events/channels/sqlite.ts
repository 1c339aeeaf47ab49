import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { defaultLimits } from '../cloudevents/event.ts';
import { decodeJsonEvent, encodeJsonEvent } from '../cloudevents/json-format.ts';
import { type Channel, ChannelFull, type Delivery } from './channel.ts';
import type { Answer, Operation } from './sqlite-operations.ts';
import type { Reply } from './sqlite-worker.ts';

/** A database of events. Only one process may have it open. */
export interface EventDatabase {
  channel(topic: string): Channel;
  /** Carries out what was asked, and closes. */
  close(): Promise<void>;
}

interface Pending {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/**
 * Opens a database of events, at most 1 GiB, in a thread of its own. Publishing resolves when the event is on the disk.
 * @param now milliseconds since the epoch
 */
export function openEventDatabase(path: string, now: () => number): EventDatabase {
  const { ask, close } = worker(path);
  return { channel: (topic) => channelOf(topic, ask, now), close };
}

type Ask = (operation: Operation) => Promise<Answer>;

function worker(path: string): { ask: Ask; close(): Promise<void> } {
  const file = `./sqlite-worker${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`;
  const thread = new Worker(new URL(file, import.meta.url), {
    workerData: path,
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  const pending = new Map<number, Pending>();
  const ended = once(thread, 'exit');
  let number = 0;
  let fault: Error | null = null;
  const fail = (error: Error) => {
    fault ??= error;
    for (const { reject } of pending.values()) reject(fault);
    pending.clear();
  };
  thread.on('message', (reply: Reply) => {
    const waiting = pending.get(reply.id);
    pending.delete(reply.id);
    if ('answer' in reply) waiting?.resolve(reply.answer);
    else waiting?.reject(reply.full ? new ChannelFull(reply.error) : new Error(reply.error));
  });
  thread.on('error', fail);
  thread.on('exit', () => fail(new Error('The database of events is closed')));
  return {
    ask: (operation) =>
      new Promise((resolve, reject) => {
        if (fault !== null) return reject(fault);
        number += 1;
        pending.set(number, { resolve, reject });
        thread.postMessage({ id: number, operation });
      }),
    async close() {
      thread.postMessage('close');
      await ended;
    },
  };
}

function channelOf(topic: string, ask: Ask, now: () => number): Channel {
  const listeners = new Set<() => void>();
  return {
    async publish(event) {
      await ask({ kind: 'publish', topic, event: encodeJsonEvent(event), now: now() });
      for (const listener of listeners) listener();
    },
    async subscribe(consumer) {
      await ask({ kind: 'subscribe', topic, consumer });
    },
    async endOtherSubscriptions(names) {
      await ask({ kind: 'endOthers', topic, consumers: [...names] });
    },
    async receive(consumer, limit, leaseMs) {
      const at = now();
      return deliveriesOf(
        await ask({ kind: 'receive', topic, consumer, limit, now: at, until: at + leaseMs }),
      );
    },
    async ack(consumer, id) {
      await ask({ kind: 'ack', topic, consumer, id });
    },
    async retry(consumer, id, delayMs) {
      await ask({ kind: 'defer', topic, consumer, id, due: now() + delayMs, attempts: 0 });
    },
    async release(consumer, id) {
      await ask({ kind: 'defer', topic, consumer, id, due: now(), attempts: -1 });
    },
    async nextDueIn(consumer) {
      const due = await ask({ kind: 'next', topic, consumer });
      return typeof due === 'number' ? Math.max(0, due - now()) : null;
    },
    onPublish(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      listeners.clear();
    },
  };
}

function deliveriesOf(answer: Answer): Delivery[] {
  if (!Array.isArray(answer)) return [];
  const limits = { ...defaultLimits, maxEventBytes: Number.POSITIVE_INFINITY };
  return answer.map(({ attempt, event: bytes, id }) => {
    const event = decodeJsonEvent(bytes, limits);
    if (!event.ok) throw new Error(`Event ${id} of the database is damaged`);
    return { id, attempt, event: event.value };
  });
}
