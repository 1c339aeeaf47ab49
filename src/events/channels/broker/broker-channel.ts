import type { Log } from '../../../lib/log.ts';
import type { EventDatabase } from '../../database/event-database.ts';
import type { BackgroundTasks } from '../background-tasks.ts';
import type { Channel, Delivery } from '../channel.ts';
import type { Broker, BrokerConnection, BrokerMessage, Consumption } from './broker.ts';
import { createCrashCounts } from './crash-counts.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { createReconnectingConnection } from './reconnecting-connection.ts';
import { createRetryStore } from './retry-store.ts';

const DEFAULT_PREFETCH = 256;
/** How soon a consumption that ended begins again. */
const CONSUME_AGAIN_MS = 1_000;
const MAX_CALLS = 20_000;
/** Deliveries of the retry store have ids that begin so. */
const RETRY_PREFIX = 'shelf:';

export interface BrokerChannelInput {
  broker: Broker;
  background: BackgroundTasks;
  /** What the configuration calls the channel. */
  channelId: string;
  /** Of the retry store, where messages wait for their next attempt. */
  database: EventDatabase;
  /** What tells the messages of this topic in the retry store from those of others. */
  retryStoreKey: string;
  log: Log;
  /** Milliseconds since the epoch. */
  now: () => number;
}

interface Consumer {
  readonly inbox: Inbox;
  prefetch: number;
  /** Whether the broker knew it once. */
  subscribed: boolean;
  /** Whether somebody receives: until then its messages stay with the broker. */
  hasConsumer: boolean;
  /** Null: nobody consumes. At most one does, for two would mix the order. */
  running: Running | null;
  again: NodeJS.Timeout | undefined;
  /** Before this time no message of the retry store is due. */
  retryStoreDue: number;
}

/** A consumption from the moment that it is asked for. */
interface Running {
  /** Whether its connection is lost, or it ended: what it has delivered, and what it still delivers, comes again. */
  lost: boolean;
  /** Null while the broker has not answered. */
  consumption: Consumption | null;
}

/** A channel whose messages are with a broker, but for those that wait for another attempt. */
export function createBrokerChannel(input: BrokerChannelInput): Channel {
  const { background, broker, channelId, database, log, now, retryStoreKey } = input;
  const retryStore = createRetryStore(database, retryStoreKey, now);
  const crashCounts = createCrashCounts({ database, topic: retryStoreKey, background, now });
  const listeners = new Set<() => void>();
  const consumers = new Map<string, Consumer>();
  const deliveredBy = new WeakMap<BrokerMessage, Running>();
  /** Of the latest connection. */
  let warnings: readonly string[] = [];
  const consumerOf = (name: string): Consumer => {
    const consumer = consumers.get(name) ?? {
      inbox: createInbox(now),
      prefetch: DEFAULT_PREFETCH,
      subscribed: false,
      hasConsumer: false,
      running: null,
      again: undefined,
      retryStoreDue: 0,
    };
    consumers.set(name, consumer);
    return consumer;
  };
  const connection = createReconnectingConnection({
    broker,
    maxCalls: MAX_CALLS,
    onConnected(made) {
      log.info({ channel: channelId }, 'a message queue is connected');
      for (const text of made.warnings) if (!warnings.includes(text)) log.warn({ channel: channelId }, text);
      warnings = made.warnings;
      for (const [name, consumer] of consumers) if (consumer.hasConsumer) begin(name, consumer, made);
    },
    onLost(error) {
      log.warn({ channel: channelId, error: error.message }, 'a message queue cannot be reached');
      for (const consumer of consumers.values()) {
        clearTimeout(consumer.again);
        if (consumer.running !== null) consumer.running.lost = true;
        consumer.running = null;
        consumer.inbox.disconnected();
      }
    },
  });

  /** Subscribes again first: a broker may have lost what it knew. */
  const begin = (name: string, consumer: Consumer, made: BrokerConnection) => {
    // The connection was made while somebody waited for it.
    if (consumer.running !== null) return;
    const own: Running = { lost: false, consumption: null };
    consumer.running = own;
    let ended = false;
    const end = (error: Error) => {
      if (ended) return;
      ended = true;
      own.lost = true;
      // What is told late says nothing of the messages that came since.
      if (consumer.running !== own) return;
      consumer.running = null;
      consumer.inbox.disconnected();
      if (connection.problem() !== null || !consumer.hasConsumer) return;
      log.warn({ channel: channelId, trigger: name, error: error.message }, 'a consumer was restarted');
      consumer.again = setTimeout(() => start(name, consumer), CONSUME_AGAIN_MS);
    };
    const receiver = {
      onEnd: end,
      message(message: BrokerMessage) {
        if (own.lost) return;
        deliveredBy.set(message, own);
        if (consumer.inbox.add(message)) for (const listener of listeners) listener();
      },
    };
    const consume = async () => {
      await made.subscribe(name, consumer.subscribed);
      const { prefetch } = consumer;
      const consumption = await made.consume(name, prefetch, receiver);
      own.consumption = consumption;
      if (!consumer.hasConsumer) await consumption.stop();
      else if (prefetch !== consumer.prefetch) await restart(name, consumer);
    };
    consume().catch(end);
  };
  const start = (name: string, consumer: Consumer) => {
    connection.run(async (made) => begin(name, consumer, made)).catch(() => {});
  };
  /** Consumes with another prefetch. One that has only been asked for does so itself. */
  const restart = async (name: string, consumer: Consumer) => {
    const { running } = consumer;
    if (running?.consumption == null) return;
    consumer.running = null;
    await running.consumption.stop();
    start(name, consumer);
  };
  const stop = async (consumer: Consumer) => {
    consumer.hasConsumer = false;
    clearTimeout(consumer.again);
    const { running } = consumer;
    consumer.running = null;
    await running?.consumption?.stop().catch(() => {});
    await Promise.allSettled(consumer.inbox.clear().map((message) => message.giveBack()));
  };

  const fromRetryStore = async (name: string, consumer: Consumer, limit: number, leaseMs: number) => {
    if (now() < consumer.retryStoreDue) return [];
    const deliveries = await retryStore.receive(name, limit, leaseMs);
    const due = await retryStore.nextDueIn(name);
    consumer.retryStoreDue = due === null ? Number.POSITIVE_INFINITY : now() + due;
    return deliveries.map((delivery) => ({ ...delivery, id: `${RETRY_PREFIX}${delivery.id}` }));
  };
  const settle = async ({ inbox }: Consumer, message: BrokerMessage) => {
    inbox.settled(message);
    const acknowledge = () => connection.run(() => message.ack());
    if (message.position === null) await acknowledge();
    // Otherwise it comes once more, and is acknowledged then.
    else if (deliveredBy.get(message)?.lost !== true) await background.run('settle-handled', acknowledge);
  };
  const retryStoreId = (id: string): string | null =>
    id.startsWith(RETRY_PREFIX) ? id.slice(RETRY_PREFIX.length) : null;

  return {
    publish: (event) => connection.run((made) => made.publish(event)),
    async subscribe(name, bufferSize) {
      const consumer = consumerOf(name);
      const prefetch = bufferSize ?? consumer.prefetch;
      const again = await retryStore.isSubscribed(name);
      await connection.run((made) => made.subscribe(name, again));
      await retryStore.subscribe(name);
      consumer.subscribed = true;
      // It may have got what waited elsewhere.
      consumer.retryStoreDue = 0;
      if (prefetch === consumer.prefetch) return;
      consumer.prefetch = prefetch;
      await restart(name, consumer);
    },
    async endOtherSubscriptions(names) {
      for (const [name, consumer] of consumers) if (!names.has(name)) await stop(consumer);
      for (const name of await retryStore.otherSubscribers(names))
        await connection.run((made) => made.unsubscribe(name));
      await retryStore.endOtherSubscriptions(names);
    },
    async receive(name, limit, leaseMs) {
      const consumer = consumerOf(name);
      if (!consumer.hasConsumer) {
        consumer.hasConsumer = true;
        start(name, consumer);
      }
      const deliveries: Delivery[] = await fromRetryStore(name, consumer, limit, leaseMs);
      const messages = consumer.inbox.receive(limit - deliveries.length, leaseMs);
      const crashes = await crashCounts.begin(
        name,
        messages.map(({ entry }) => entry),
      );
      for (const [index, { entry, id }] of messages.entries()) {
        const { content, position } = entry.message;
        deliveries.push({
          id,
          message: position,
          content,
          attempt: 1,
          crashes: crashes[index] ?? 0,
          failures: [],
        });
      }
      return deliveries;
    },
    async renew(name, ids, leaseMs) {
      consumerOf(name).inbox.renew(ids, leaseMs);
      const stored = ids.map(retryStoreId).filter((id) => id !== null);
      if (stored.length > 0) await retryStore.renew(name, stored, leaseMs);
    },
    async ack(name, id) {
      const stored = retryStoreId(id);
      if (stored !== null) return retryStore.ack(name, stored);
      const consumer = consumerOf(name);
      const entry = consumer.inbox.entryOf(id);
      consumer.inbox.remove(id);
      if (entry === null) return;
      await settle(consumer, entry.message);
      await crashCounts.forget(name, entry);
    },
    async retry(name, id, delayMs, failures) {
      const consumer = consumerOf(name);
      const stored = retryStoreId(id);
      if (stored !== null) await retryStore.retry(name, stored, delayMs, failures);
      else {
        const entry = consumer.inbox.entryOf(id);
        if (entry === null) return;
        await retryStore.put(name, entry.message.content, 2, delayMs, failures);
        consumer.inbox.remove(id);
        await settle(consumer, entry.message);
        await crashCounts.forget(name, entry);
      }
      consumer.retryStoreDue = Math.min(consumer.retryStoreDue, now() + delayMs);
    },
    async release(name, id) {
      const consumer = consumerOf(name);
      const stored = retryStoreId(id);
      if (stored === null) {
        const entry = consumer.inbox.entryOf(id);
        consumer.inbox.release(id);
        if (entry !== null) await crashCounts.release(name, entry);
        return;
      }
      await retryStore.release(name, stored);
      consumer.retryStoreDue = 0;
    },
    async nextDueIn(name) {
      const { inbox, retryStoreDue } = consumerOf(name);
      const dues = [
        inbox.nextDueIn(),
        retryStoreDue === Number.POSITIVE_INFINITY ? null : retryStoreDue - now(),
      ];
      const knownDues = dues.filter((due) => due !== null);
      return knownDues.length === 0 ? null : Math.max(0, Math.min(...knownDues));
    },
    onArrival(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async depth(name) {
      const inbox = consumerOf(name).inbox.depth();
      const stored = await retryStore.depth(name);
      const heldCount = inbox.held + stored.held;
      if (connection.problem() !== null) return { waiting: null, held: heldCount };
      const ask = () => connection.run((made) => made.waiting(name));
      const waiting = await background.run('count-waiting', ask);
      return {
        waiting: waiting === null ? null : waiting + inbox.waiting + (stored.waiting ?? 0),
        held: heldCount,
      };
    },
    problem: connection.problem,
    degradations: background.problems,
    warnings: () => warnings,
    async close() {
      listeners.clear();
      await Promise.all([...consumers.values()].map(stop));
      await connection.close();
    },
  };
}
