import { setTimeout as delay } from 'node:timers/promises';
import type { CloudEvent } from '../../../src/events/cloudevents/event.ts';
import { exchange, type Reply } from '../../support/clients/client.ts';
import { startEventReceiver } from '../../support/events/event-receiver.ts';
import type { GatewayNode } from '../../support/gateway/gateway-node.ts';
import { createLedger, type LedgerReport } from '../ledger.ts';

/** Events that are sent to gateways while these fail, and what becomes of them. */
export interface NodesEvents {
  /** `events.yaml` of each gateway: two triggers, one behind each broker. */
  readonly yaml: string;
  /** Sends events to the gateways, one after the other. */
  begin(nodes: readonly GatewayNode[]): void;
  /** Ends that. @returns what came of them, once nothing is missing or for so long nothing has come any more */
  end(quietMs: number): Promise<LedgerReport>;
  /** What came more than once. */
  repeated(): readonly Repeated[];
  close(): Promise<void>;
}

/** An event that a trigger's receiver got more than once. */
export interface Repeated {
  readonly trigger: string;
  readonly id: string;
  /** `performance.now()` of each. */
  readonly at: readonly number[];
}

const EVERY_MS = 100;
const TRIGGERS = ['nats', 'redis'] as const;

/** @param servers addresses of the brokers, which both gateways have as channels */
export async function startNodesEvents(servers: { nats: string; redis: string }): Promise<NodesEvents> {
  const ledger = createLedger();
  const deliveries = new Map<string, Repeated>();
  let deliveredAt = 0;
  const receiver = await startEventReceiver((event, path) => {
    deliveredAt = performance.now();
    const [trigger, id] = [path.slice(1), String(event.attributes.id)];
    const key = `${trigger} ${id}`;
    deliveries.set(key, { trigger, id, at: [...(deliveries.get(key)?.at ?? []), deliveredAt] });
    ledger.delivered(trigger, event);
    return 204;
  });
  const state = { on: true };
  let sending: Promise<void> = Promise.resolve();
  const send = async (nodes: readonly GatewayNode[]) => {
    for (let turn = 0; state.on; turn += 1) {
      const event = ledger.next('load');
      const reply = await sendTo(nodes[turn % nodes.length], event).catch(() => null);
      if (reply !== null && reply.status >= 200 && reply.status < 300) ledger.accepted(event);
      await delay(EVERY_MS);
    }
  };
  const missing = () => TRIGGERS.some((trigger) => ledger.missing(trigger).length > 0);
  return {
    yaml: `components:
  channels:
    - {unique_id: by-nats, url: "${servers.nats}", mq_topic_name: load}
    - {unique_id: by-redis, url: "${servers.redis}", mq_topic_name: load}
  sources:
    - ref: {unique_id: load, kind: service}
  triggers:
    - ref: {unique_id: nats, kind: http, name: "${receiver.url}/nats"}
    - ref: {unique_id: redis, kind: http, name: "${receiver.url}/redis"}
strategy:
  trigger_strategies:
    - {event_trigger_id: nats, enable_idempotence: true, runtime_strategy: {retry_rule: {retry_max: 1000, back_off_delay: PT0.1S}}}
    - {event_trigger_id: redis, enable_idempotence: true, runtime_strategy: {retry_rule: {retry_max: 1000, back_off_delay: PT0.1S}}}
router_rules:
  routers:
    - {source_id: load, trigger_id: nats, channel_id: by-nats}
    - {source_id: load, trigger_id: redis, channel_id: by-redis}
`,
    begin(nodes) {
      sending = send(nodes);
    },
    async end(quietMs) {
      state.on = false;
      await sending;
      deliveredAt = Math.max(deliveredAt, performance.now());
      while (missing() && performance.now() - deliveredAt < quietMs) await delay(100);
      return ledger.report(TRIGGERS);
    },
    repeated: () => [...deliveries.values()].filter(({ at }) => at.length > 1),
    close: receiver.close,
  };
}

async function sendTo(
  node: GatewayNode | undefined,
  { attributes, data }: CloudEvent,
): Promise<Reply | null> {
  if (node === undefined) return null;
  const names = ['specversion', 'id', 'source', 'type'] as const;
  return exchange(node.port, {
    path: '/api/events',
    headers: {
      host: `127.0.0.1:${node.port}`,
      'content-type': 'application/octet-stream',
      'x-auth-token': node.ownerKey(),
      ...Object.fromEntries(names.map((name) => [`ce-${name}`, String(attributes[name])])),
    },
    body: Buffer.from(data ?? []),
  });
}
