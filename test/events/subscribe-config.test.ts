import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create, fromJson, type MessageInitShape } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { EventSchema } from '../../src/events/gen/io/opensergo/proto/event/v1/event_pb.ts';
import {
  OpenSergoUniversalTransportService,
  SubscribeOpType,
  SubscribeRequestSchema,
  type SubscribeResponse,
} from '../../src/events/gen/io/opensergo/proto/transport/v1/transport_pb.ts';
import { EventConfigService } from '../../src/events/gen/modelgate/events/v1/event_config_service_pb.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { managed } from '../support/management/management.ts';

const EVENT_KIND = 'event.opensergo.io/v1alpha1/Event';

const config = (trigger: string) =>
  fromJson(EventSchema, {
    components: {
      channels: [{ uniqueId: 'main', url: 'memory:', mqTopicName: 'main' }],
      sources: [{ ref: { uniqueId: 'gw', kind: 'gateway' } }],
      triggers: [{ ref: { uniqueId: trigger, kind: 'log' } }],
    },
    routerRules: { routers: [{ sourceId: 'gw', triggerId: trigger, channelId: 'main' }] },
  });

describe('SubscribeConfig of the transport of OpenSergo, by gRPC', () => {
  const at = managed();
  const transportOf = (token: string) =>
    createGrpcTransport({
      baseUrl: `http://127.0.0.1:${at.gateway.port}`,
      interceptors: [
        (next) => (request) => {
          request.header.set('x-auth-token', token);
          return next(request);
        },
      ],
    });
  const apply = (trigger: string) =>
    createClient(EventConfigService, transportOf(at.admin.token)).applyConfig({ config: config(trigger) });

  /** A stream, whose requests are sent one by one. */
  function subscribe(token = at.admin.token) {
    const waiting: MessageInitShape<typeof SubscribeRequestSchema>[] = [];
    let wake = () => {};
    let closed = false;
    async function* requests() {
      while (!closed || waiting.length > 0) {
        const next = waiting.shift();
        if (next !== undefined) yield create(SubscribeRequestSchema, next);
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    }
    const client = createClient(OpenSergoUniversalTransportService, transportOf(token));
    const responses = client.subscribeConfig(requests())[Symbol.asyncIterator]();
    return {
      send(request: MessageInitShape<typeof SubscribeRequestSchema>) {
        waiting.push(request);
        wake();
      },
      async next(): Promise<SubscribeResponse> {
        const { done, value } = await responses.next();
        return done ? assert.fail('the stream has ended') : value;
      },
      ended: () => responses.next().then(({ done }) => done === true),
      close() {
        closed = true;
        wake();
      },
    };
  }
  const target = { namespace: 'default', app: 'shop', kinds: [EVENT_KIND] };
  const triggerIn = ({ dataWithVersion }: SubscribeResponse): string | undefined => {
    const [data] = dataWithVersion?.data ?? [];
    assert.equal(data?.typeUrl, 'type.googleapis.com/io.opensergo.proto.event.v1.Event');
    return anyUnpack(data, EventSchema)?.components?.triggers[0]?.ref?.uniqueId;
  };

  it('brings the whole configuration at once and after each change, with versions that only rise', async () => {
    await apply('first');
    const stream = subscribe();
    stream.send({ target, identifier: 'client-1', requestId: 'r1' });
    const first = await stream.next();
    const { ack, app, controlPlane, kind, namespace, responseId, status } = first;
    assert.deepEqual(
      [ack, status?.code, responseId, namespace, app, kind],
      ['ACK', 1, 'r1', 'default', 'shop', EVENT_KIND],
    );
    assert.equal(controlPlane?.identifier, 'modelgate');
    assert.equal(triggerIn(first), 'first');
    const versions = [first.dataWithVersion?.version ?? 0n];
    for (const trigger of ['second', 'first']) {
      await apply(trigger);
      const pushed = await stream.next();
      assert.deepEqual([pushed.ack, pushed.status?.code, triggerIn(pushed)], ['', 1, trigger]);
      stream.send({ responseAck: 'ACK', status: { code: 1 }, requestId: pushed.responseId });
      versions.push(pushed.dataWithVersion?.version ?? 0n);
    }
    assert.deepEqual(
      versions,
      [...new Set(versions)].sort((a, b) => Number(a - b)),
    );
    const later = subscribe();
    later.send({ target, requestId: 'r1' });
    const again = (await later.next()).dataWithVersion?.version ?? 0n;
    assert.ok(again >= (versions.at(-1) ?? 0n), 'a client that comes back takes what it gets');
    later.close();
    stream.close();
    assert.equal(await stream.ended(), true);
  });

  it('refuses what is wrong with the reason, and goes on', async () => {
    const stream = subscribe();
    const wrong: readonly [MessageInitShape<typeof SubscribeRequestSchema>, RegExp][] = [
      [{ requestId: 'a' }, /target is missing/],
      [{ requestId: 'a', target: { ...target, namespace: '' } }, /target\.namespace is empty/],
      [{ requestId: 'a', target: { ...target, app: '' } }, /target\.app is empty/],
      [{ requestId: 'a', target: { ...target, kinds: [] } }, /target\.kinds is empty/],
      [
        { requestId: 'a', target: { ...target, kinds: ['x.io/v1/Rule'] } },
        /x\.io\/v1\/Rule.*v1alpha1\/Event/,
      ],
    ];
    for (const [request, reason] of wrong) {
      stream.send(request);
      const { ack, dataWithVersion, responseId, status } = await stream.next();
      assert.deepEqual([ack, status?.code, responseId, dataWithVersion], ['NACK', 4002, 'a', undefined]);
      assert.match(status?.message ?? '', reason);
    }
    stream.send({ target, requestId: 'b' });
    assert.equal((await stream.next()).ack, 'ACK');
    stream.send({ target, opType: SubscribeOpType.UNSUBSCRIBE, requestId: 'c' });
    const ended = await stream.next();
    assert.deepEqual([ended.ack, ended.responseId, ended.dataWithVersion], ['ACK', 'c', undefined]);
    await apply('unseen');
    stream.send({ target: { ...target, app: 'other' }, requestId: 'd' });
    const other = await stream.next();
    assert.deepEqual([other.app, other.responseId, triggerIn(other)], ['other', 'd', 'unseen']);
    stream.send({
      responseAck: 'NACK',
      status: { code: 4007, message: 'no such thing' },
      identifier: 'client-2',
    });
    await waitFor('the refusal in the log', () =>
      /refused a configuration: client-2 says 4007 no such thing/.test(JSON.stringify(at.gateway.output())),
    );
    stream.close();
  });

  it('asks for a login, and for the permission to see the configuration', async () => {
    const viewer = await at.person('a-viewer-of-events', 'viewer');
    for (const [token, code] of [
      ['none', Code.Unauthenticated],
      [viewer.token, Code.PermissionDenied],
    ] as const) {
      const stream = subscribe(token);
      stream.send({ target, requestId: 'r' });
      const error = await stream.next().then(
        () => assert.fail('the call succeeded'),
        (thrown: unknown) => ConnectError.from(thrown),
      );
      assert.equal(error.code, code);
      stream.close();
    }
  });
});
