import type { PrivateBroker } from '../../support/brokers/server-process.ts';
import type { GatewayNode } from '../../support/gateway/gateway-node.ts';
import type { Network } from './network.ts';
import type { StallingDisk } from './stalling-disk.ts';
import type { NodesUpstream } from './upstream.ts';

/** What was done to a gateway, and when (`performance.now()`). */
export interface Disturbance {
  readonly node: number;
  readonly kind: 'killed' | 'stopped' | 'paused' | 'worker killed';
  readonly from: number;
  to: number;
}

/** One fault of the run, and when (`performance.now()`). */
export interface Fault {
  readonly name: string;
  readonly from: number;
  to: number;
}

/** The gateways of a run, what they depend on, and what has been done to them. */
export interface World {
  readonly database: PrivateBroker;
  readonly redis: PrivateBroker;
  readonly nats: PrivateBroker;
  readonly upstream: NodesUpstream;
  /** Holds the data directories; null where none can be mounted. */
  readonly disk: StallingDisk | null;
  readonly networks: readonly Network[];
  readonly nodes: readonly GatewayNode[];
  readonly random: () => number;
  readonly disturbances: Disturbance[];
  /** How often each thing went wrong. */
  readonly faults: Record<string, number>;
  readonly timeline: Fault[];
}

/** Of the two clients' keys. */
export interface Keys {
  readonly open: string;
  /** Under a budget of so many requests. */
  readonly limited: string;
  readonly limit: number;
}
