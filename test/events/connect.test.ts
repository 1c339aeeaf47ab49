import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromJson } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { EventSchema } from '../../src/events/gen/io/opensergo/proto/event/v1/event_pb.ts';
import { EventConfigService } from '../../src/events/gen/modelgate/events/v1/event_config_service_pb.ts';
import { managed } from '../support/management.ts';

const config = (trigger: string) =>
  fromJson(EventSchema, {
    components: {
      channels: [{ uniqueId: 'main', url: 'memory:', mqTopicName: 'main' }],
      sources: [{ ref: { uniqueId: 'gw', kind: 'gateway' } }],
      triggers: [{ ref: { uniqueId: trigger, kind: 'log' } }],
    },
    routerRules: { routers: [{ sourceId: 'gw', triggerId: trigger, channelId: 'main' }] },
  });

describe('modelgate.events.v1.EventConfigService', () => {
  const at = managed();
  const clientOf = (token: string, create: typeof createConnectTransport | typeof createGrpcWebTransport) =>
    createClient(
      EventConfigService,
      create({
        baseUrl: `http://127.0.0.1:${at.gateway.port}`,
        httpVersion: '1.1',
        interceptors: [
          (next) => (request) => {
            request.header.set('x-auth-token', token);
            return next(request);
          },
        ],
      }),
    );
  const client = () => clientOf(at.admin.token, createConnectTransport);
  const codeOf = async (call: Promise<unknown>): Promise<Code> => {
    const error = await call.then(
      () => null,
      (thrown: unknown) => ConnectError.from(thrown),
    );
    assert.ok(error !== null, 'the call succeeded');
    return error.code;
  };

  it('reads and changes the configuration in Connect and in gRPC-Web', async () => {
    for (const create of [createConnectTransport, createGrpcWebTransport]) {
      const service = clientOf(at.admin.token, create);
      const before = await service.getConfig({});
      const applied = await service.applyConfig({
        config: config('a'),
        expectedVersion: before.version?.number ?? 0n,
      });
      assert.deepEqual(applied.errors, []);
      const { config: current, version } = await service.getConfig({});
      assert.equal(version?.number, applied.version?.number);
      assert.equal(current?.components?.triggers[0]?.ref?.uniqueId, 'a');
      const late = service.applyConfig({ config: config('b'), expectedVersion: 99n });
      assert.equal(await codeOf(late), Code.Aborted);
    }
    const wrong = config('a');
    wrong.routerRules?.routers.pop();
    const checked = await client().validateConfig({ config: wrong });
    assert.match(checked.warnings.map(({ message }) => message).join(), /No router/);
  });

  it('tells of each configuration that comes into force', async () => {
    const seen: string[] = [];
    const end = new AbortController();
    const watching = (async () => {
      for await (const { config: current } of client().watchConfig({}, { signal: end.signal })) {
        seen.push(current?.components?.triggers[0]?.ref?.uniqueId ?? '');
        if (seen.length === 1) await client().applyConfig({ config: config('next') });
        if (seen.at(-1) === 'next') end.abort();
      }
    })().catch((error: unknown) => assert.equal(ConnectError.from(error).code, Code.Canceled));
    await watching;
    assert.equal(seen.at(-1), 'next');
  });

  it('tells how the engine is doing, and shows events', async () => {
    const { status } = await client().getStatus({});
    assert.equal(status?.['running'], true);
    assert.deepEqual((await client().listDeadLetters({})).deadLetters, []);
    assert.equal(await codeOf(client().purgeDeadLetters({})), Code.InvalidArgument);
    assert.equal((await client().replayDeadLetters({ selection: { all: true } })).count, 0);
    const end = new AbortController();
    let asking: NodeJS.Timeout | undefined;
    try {
      const body = { model: 'demo/echo', messages: [{ role: 'user', content: 'hello' }] };
      asking = setInterval(() => void at.gateway.ask('/v1/chat/completions', body).catch(() => {}), 100);
      for await (const { event, sourceId } of client().tailEvents(
        { cesql: "type LIKE '%.completed.v1'" },
        { signal: end.signal },
      )) {
        assert.equal(sourceId, 'gw');
        assert.match(Buffer.from(event).toString(), /"type":"io\.modelgate\.request\.completed\.v1"/);
        break;
      }
    } finally {
      clearInterval(asking);
      end.abort();
    }
  });

  it('asks for the same logins and permissions as the management API', async () => {
    assert.equal(await codeOf(clientOf('none', createConnectTransport).getConfig({})), Code.Unauthenticated);
    const viewer = clientOf((await at.person('a-viewer', 'viewer')).token, createConnectTransport);
    assert.equal(await codeOf(viewer.getConfig({})), Code.PermissionDenied);
    assert.notEqual((await viewer.getStatus({})).status, undefined);
    const operator = clientOf((await at.person('an-operator', 'operator')).token, createConnectTransport);
    assert.equal(await codeOf(operator.applyConfig({ config: config('x') })), Code.PermissionDenied);
  });
});
