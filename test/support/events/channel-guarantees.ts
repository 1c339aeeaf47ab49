import type { ChannelScheme } from '../../../src/events/config/config.ts';

/** What a kind of channel promises. docs/events/channels.md shows it, and the tests of the kinds hold them to it. */
export interface Guarantee {
  /** How its addresses begin. */
  readonly addresses: readonly string[];
  /** Publishing has succeeded when… */
  readonly acceptedWhen: string;
  /** Accepted events stay when the gateway is killed. */
  readonly survivesGateway: boolean;
  /** Accepted events stay when the server is killed and started again. */
  readonly survivesServer: 'yes' | 'as configured' | 'no' | 'no server';
  /** Where an event waits for its next attempt. */
  readonly retriesWait: 'memory' | 'the channel' | 'events.db';
  /** Deliveries that ended with the process are counted, so that an event that ends it five times is a dead letter. */
  readonly countsCrashes: boolean;
  /** Several gateways may share a topic. */
  readonly shared: boolean;
  /** First attempts come in the order of publishing. */
  readonly order: 'yes' | 'per partition';
}

const inDatabase = 'events.db';

export const guarantees: Readonly<Record<ChannelScheme, Guarantee>> = {
  memory: {
    addresses: ['memory:'],
    acceptedWhen: 'it is in the memory',
    survivesGateway: false,
    survivesServer: 'no server',
    retriesWait: 'memory',
    countsCrashes: false,
    shared: false,
    order: 'yes',
  },
  sqlite: {
    addresses: ['sqlite:'],
    acceptedWhen: 'it is on the disk',
    survivesGateway: true,
    survivesServer: 'no server',
    retriesWait: 'the channel',
    countsCrashes: true,
    shared: false,
    order: 'yes',
  },
  postgres: {
    addresses: ['postgres:', 'postgresql:'],
    acceptedWhen: 'it is committed',
    survivesGateway: true,
    survivesServer: 'yes',
    retriesWait: 'the channel',
    countsCrashes: true,
    shared: true,
    order: 'yes',
  },
  nats: {
    addresses: ['nats:', 'tls:'],
    acceptedWhen: 'the stream confirms it',
    survivesGateway: true,
    survivesServer: 'yes',
    retriesWait: inDatabase,
    countsCrashes: true,
    shared: true,
    order: 'yes',
  },
  redis: {
    addresses: ['redis:', 'rediss:'],
    acceptedWhen: 'the stream has it',
    survivesGateway: true,
    survivesServer: 'as configured',
    retriesWait: inDatabase,
    countsCrashes: true,
    shared: true,
    order: 'yes',
  },
  amqp: {
    addresses: ['amqp:', 'amqps:'],
    acceptedWhen: 'RabbitMQ confirms it',
    survivesGateway: true,
    survivesServer: 'yes',
    retriesWait: inDatabase,
    countsCrashes: true,
    shared: true,
    order: 'yes',
  },
  mqtt: {
    addresses: ['mqtt:', 'mqtts:'],
    acceptedWhen: 'the server acknowledges it',
    survivesGateway: true,
    survivesServer: 'no',
    retriesWait: inDatabase,
    countsCrashes: true,
    shared: true,
    order: 'yes',
  },
  kafka: {
    addresses: ['kafka:'],
    acceptedWhen: 'all replicas in sync have it',
    survivesGateway: true,
    survivesServer: 'as configured',
    retriesWait: inDatabase,
    countsCrashes: true,
    shared: true,
    order: 'per partition',
  },
};

const yesOrNo = (holds: boolean): string => (holds ? 'yes' : 'no');

/** The table of docs/events/channels.md. */
export function guaranteeTable(): string {
  const head = [
    'channel',
    'an event is accepted when',
    'gateway killed: keeps events',
    'server killed: keeps events',
    'retries wait in',
    'crashes counted',
    'several gateways',
    'in order',
  ];
  const rows = Object.values(guarantees).map((one) => [
    one.addresses.map((address) => `\`${address}\``).join(', '),
    one.acceptedWhen,
    yesOrNo(one.survivesGateway),
    one.survivesServer,
    one.retriesWait === inDatabase ? `\`${inDatabase}\`` : one.retriesWait,
    yesOrNo(one.countsCrashes),
    yesOrNo(one.shared),
    one.order,
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
