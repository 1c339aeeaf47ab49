import type { ChannelScheme } from '../../src/events/config/config.ts';
import { hasNats, startNats } from '../support/brokers/nats.ts';
import { hasPostgres, startPostgres } from '../support/brokers/postgres.ts';
import { hasRabbitmq, startRabbitmq } from '../support/brokers/rabbitmq.ts';
import { hasRedis, startRedis } from '../support/brokers/redis.ts';
import type { PrivateBroker } from '../support/brokers/server-process.ts';

/** What keeps the events of a durable channel: a server that a run starts for itself. */
export interface Backend {
  readonly scheme: ChannelScheme;
  readonly installed: boolean;
  /** @param folder keeps the data of the server */
  start(folder: string): Promise<StoppableBroker>;
}

export interface StoppableBroker extends PrivateBroker {
  /** Ends the server and all that was started for it. */
  stop(): Promise<void>;
}

const stoppable = async (starting: Promise<PrivateBroker>): Promise<StoppableBroker> => {
  const broker = await starting;
  return { ...broker, stop: broker.kill };
};

/** Message queues and databases that keep what they have confirmed when they are killed. */
export const backends: readonly Backend[] = [
  { scheme: 'postgres', installed: hasPostgres, start: (folder) => stoppable(startPostgres(folder)) },
  { scheme: 'nats', installed: hasNats, start: (folder) => stoppable(startNats(folder)) },
  { scheme: 'redis', installed: hasRedis, start: (folder) => stoppable(startRedis(folder)) },
  { scheme: 'amqp', installed: hasRabbitmq, start: startRabbitmq },
];
