import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import type { ServiceImpl } from '@connectrpc/connect';
import type { ConfigInForce } from '../../../events/control/config-control.ts';
import { type Event, EventSchema } from '../../../events/gen/io/opensergo/proto/event/v1/event_pb.ts';
import {
  type OpenSergoUniversalTransportService,
  SubscribeOpType,
  type SubscribeRequest,
  type SubscribeResponseSchema,
} from '../../../events/gen/io/opensergo/proto/transport/v1/transport_pb.ts';
import { newId } from '../../../lib/id.ts';
import { createServiceCalls, type ServiceCallsInput } from './calls.ts';
import type { QueueLimit } from './message-queue.ts';

export interface TransportServiceInput extends ServiceCallsInput {
  /** Says in the log that a client refused a configuration. */
  warn(sentence: string): void;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The one kind of configuration that there is, by the name of its resource. */
const EVENT_KIND = 'event.opensergo.io/v1alpha1/Event';
const SUCCESS = 1;
const WRONG_REQUEST = 4002;
/** Of one stream. */
const MOST_SUBSCRIPTIONS = 100;
const LONGEST_TEXT = 200;

/** A request at a time, and one change: later ones are in it. */
const waiting: QueueLimit = { most: 2, leaveOut: 'oldest' };

type Response = MessageInitShape<typeof SubscribeResponseSchema>;
/** What distinguishes a response to a request from a pushed one. */
type Reference = Readonly<Record<'ack' | 'responseId', string>>;
type Item =
  | { readonly kind: 'request'; readonly request: SubscribeRequest; handled(): void }
  | { readonly kind: 'change' };

interface Subscriber {
  readonly namespace: string;
  readonly app: string;
}

/**
 * The transport of OpenSergo: clients subscribe to the configuration of events, and get the whole of it at once and whenever it
 * changes. Every namespace and app has the same. Versions rise with each change, also when an earlier configuration comes back and
 * when the gateway was started again, for clients ignore lower ones.
 */
export function transportService(
  input: TransportServiceInput,
): ServiceImpl<typeof OpenSergoUniversalTransportService> {
  const { opened, stream } = createServiceCalls(input);
  return {
    async *subscribeConfig(requests, context) {
      const { caller, config } = await opened(context, 'events:inspect');
      const ended = new AbortController();
      const client = AbortSignal.any([context.signal, ended.signal]);
      const subscribers = new Map<string, Subscriber>();
      const last: { inForce: ConfigInForce | null; version: number } = { inForce: null, version: 0 };
      let changed = false;
      /** The version of the configuration in force. */
      const versionOf = (inForce: ConfigInForce): bigint => {
        if (last.inForce !== inForce) last.version = Math.max(input.now(), last.version + 1);
        last.inForce = inForce;
        return BigInt(last.version);
      };
      const whole = ({ app, namespace }: Subscriber, reference: Reference): Response => {
        const inForce = config.inForce();
        const version = versionOf(inForce);
        return {
          namespace,
          app,
          kind: EVENT_KIND,
          status: { code: SUCCESS, message: `Version ${inForce.version.number} is in force` },
          dataWithVersion: { version, data: [anyPack(EventSchema, messageOf(inForce))] },
          ...described,
          ...reference,
        };
      };
      const answer = (request: SubscribeRequest): Response[] => {
        const { opType, requestId, responseAck, status, target } = request;
        if (responseAck !== '') {
          if (responseAck !== 'ACK' || (status !== undefined && status.code !== SUCCESS))
            input.warn(
              `A client of OpenSergo refused a configuration: ${cut(request.identifier)} says ${status?.code ?? 0} ${cut(status?.message ?? '')}`,
            );
          return [];
        }
        const wrong = problemOf(request, subscribers.size);
        if (target === undefined || wrong !== null)
          return [refused(requestId, wrong ?? 'A target is needed')];
        const subscriber = { namespace: target.namespace, app: target.app };
        const acknowledged = { ack: 'ACK', responseId: requestId };
        const key = JSON.stringify([subscriber.namespace, subscriber.app]);
        if (opType === SubscribeOpType.UNSUBSCRIBE) {
          subscribers.delete(key);
          const status = { code: SUCCESS, message: 'Unsubscribed' };
          return [{ ...subscriber, kind: EVENT_KIND, status, ...described, ...acknowledged }];
        }
        subscribers.set(key, subscriber);
        return [whole(subscriber, acknowledged)];
      };
      const items = stream<Item>(caller, 'events:inspect', client, waiting, (queue) => {
        void readRequests(requests, (item) => queue.add(item)).finally(() => ended.abort());
        return config.onChange(() => {
          if (!changed) queue.add({ kind: 'change' });
          changed = true;
        });
      });
      for await (const { message } of items) {
        if (message.kind === 'request') {
          yield* answer(message.request);
          message.handled();
          continue;
        }
        changed = false;
        if (config.inForce() !== last.inForce)
          for (const subscriber of subscribers.values())
            yield whole(subscriber, { ack: '', responseId: newId('push') });
      }
    },
  };
}

/** Reads a request when the one before is answered, so that a client has to read its answers. Ends with the client. */
async function readRequests(
  requests: AsyncIterable<SubscribeRequest>,
  add: (item: Item) => void,
): Promise<void> {
  try {
    for await (const request of requests)
      await new Promise<void>((handled) => add({ kind: 'request', request, handled }));
  } catch {
    // The client is gone: so is the stream.
  }
}

/** What is wrong with a request to subscribe, or to end that; null when nothing is. */
function problemOf({ opType, target }: SubscribeRequest, subscriptions: number): string | null {
  if (target === undefined) return 'target is missing';
  for (const field of ['namespace', 'app'] as const)
    if (target[field] === '') return `target.${field} is empty`;
  if (target.kinds.length === 0) return 'target.kinds is empty';
  const unknown = target.kinds.find((kind) => kind !== EVENT_KIND);
  if (unknown !== undefined)
    return `There are no configurations of the kind ${cut(unknown)}: subscribe to ${EVENT_KIND}`;
  return opType === SubscribeOpType.SUBSCRIBE && subscriptions >= MOST_SUBSCRIPTIONS
    ? `A stream has ${MOST_SUBSCRIPTIONS} subscriptions at most`
    : null;
}

const described = { controlPlane: { identifier: 'modelgate' } } as const;

const refused = (responseId: string, message: string): Response => ({
  status: { code: WRONG_REQUEST, message },
  ack: 'NACK',
  responseId,
  ...described,
});

const messageOf = ({ config }: ConfigInForce): Event => config.message ?? create(EventSchema);

const cut = (text: string): string => text.slice(0, LONGEST_TEXT);
