import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fromJson } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { EventSchema } from '../../src/events/gen/io/opensergo/proto/event/v1/event_pb.ts';
import { EventConfigService } from '../../src/events/gen/modelgate/events/v1/event_config_service_pb.ts';
import { http2Client } from '../support/clients/http2-client.ts';
import { startGateway } from '../support/gateway/gateway.ts';
import { managed } from '../support/management/management.ts';

const config = (trigger: string) =>
  fromJson(EventSchema, {
    components: {
      channels: [{ uniqueId: 'main', url: 'memory:', mqTopicName: 'main' }],
      sources: [{ ref: { uniqueId: 'gw', kind: 'gateway' } }],
      triggers: [{ ref: { uniqueId: trigger, kind: 'log' } }],
    },
    routerRules: { routers: [{ sourceId: 'gw', triggerId: trigger, channelId: 'main' }] },
  });

const protocols = {
  Connect: createConnectTransport,
  'gRPC-Web': createGrpcWebTransport,
  gRPC: createGrpcTransport,
};
type Protocol = keyof typeof protocols;
const all = Object.keys(protocols) as Protocol[];
const clientAt = (port: number, token: string, protocol: Protocol = 'gRPC') =>
  createClient(
    EventConfigService,
    protocols[protocol]({
      baseUrl: `http://127.0.0.1:${port}`,
      httpVersion: protocol === 'gRPC' ? '2' : '1.1',
      interceptors: [
        (next) => (request) => {
          request.header.set('x-auth-token', token);
          return next(request);
        },
      ],
    }),
  );

describe('modelgate.events.v1.EventConfigService', () => {
  const at = managed();
  const clientOf = (token: string, protocol?: Protocol) => clientAt(at.gateway.port, token, protocol);
  const client = (protocol?: Protocol) => clientOf(at.admin.token, protocol);
  const errorOf = async (call: Promise<unknown>): Promise<ConnectError> => {
    const error = await call.then(
      () => null,
      (thrown: unknown) => ConnectError.from(thrown),
    );
    return error ?? assert.fail('the call succeeded');
  };
  const codeOf = async (call: Promise<unknown>): Promise<Code> => (await errorOf(call)).code;

  it('reads and changes the configuration in Connect, in gRPC-Web and in gRPC', async () => {
    for (const protocol of all) {
      const service = client(protocol);
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

  for (const protocol of all)
    it(`sends each configuration that comes into force, in ${protocol}`, async () => {
      const seen: { etag: string; number: bigint; trigger: string }[] = [];
      const end = new AbortController();
      const service = client(protocol);
      await service.applyConfig({ config: config('first') });
      const watching = (async () => {
        for await (const { config: current, version } of service.watchConfig({}, { signal: end.signal })) {
          const trigger = current?.components?.triggers[0]?.ref?.uniqueId ?? '';
          seen.push({ trigger, number: version?.number ?? 0n, etag: version?.etag ?? '' });
          if (seen.length === 1)
            for (const next of ['second', 'third']) await service.applyConfig({ config: config(next) });
          if (trigger === 'third') end.abort();
        }
      })().catch((error: unknown) => assert.equal(ConnectError.from(error).code, Code.Canceled));
      await watching;
      const first = seen[0]?.number ?? 0n;
      assert.deepEqual(
        seen,
        ['first', 'second', 'third'].map((trigger, index) => {
          const number = first + BigInt(index);
          return { trigger, number, etag: `"${number}"` };
        }),
      );
      const current = await at.call('GET', '/api/events/config', { token: at.admin.token });
      assert.equal(current.header('etag'), seen.at(-1)?.etag);
    });

  it('limits the number of watchers, and ends them with their login', async () => {
    const { name, password } = await at.person('a-watcher', 'operator');
    const token = await at.login(name, password);
    const ends: AbortController[] = [];
    const watch = () => {
      const end = new AbortController();
      ends.push(end);
      return clientOf(token).watchConfig({}, { signal: end.signal })[Symbol.asyncIterator]();
    };
    try {
      const watches = Array.from({ length: 8 }, watch);
      for (const one of watches) assert.equal((await one.next()).done, false);
      assert.equal(await codeOf(watch().next()), Code.ResourceExhausted);
      await at.call('DELETE', '/api/auth', { token });
      for (const one of watches) assert.equal(await codeOf(one.next()), Code.Unauthenticated);
    } finally {
      for (const end of ends) end.abort();
    }
  });

  it('reports the state of the engine, and shows events', async () => {
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
    for (const protocol of all) {
      const unknown = await errorOf(clientOf('none', protocol).getConfig({}));
      assert.equal(unknown.code, Code.Unauthenticated);
      assert.match(unknown.rawMessage, /[a-z]{3}/);
      assert.equal(unknown.rawMessage.startsWith('HTTP'), false, unknown.rawMessage);
      const viewer = clientOf((await at.person('a-viewer', 'viewer')).token, protocol);
      assert.equal(await codeOf(viewer.getConfig({})), Code.PermissionDenied);
      assert.notEqual((await viewer.getStatus({})).status, undefined);
      const operator = clientOf((await at.person('an-operator', 'operator')).token, protocol);
      assert.equal(await codeOf(operator.applyConfig({ config: config('x') })), Code.PermissionDenied);
    }
  });

  it('is the only service over HTTP/2, and only under the gateway’s own names', async () => {
    const request = await http2Client(at.gateway.port);
    const token = { 'x-auth-token': at.admin.token };
    const models = await request({ ':path': '/v1/models' });
    assert.equal(models.headers[':status'], 505);
    assert.equal(JSON.parse(models.body).code, 'invalid_argument');
    const grpc = { ...token, ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };
    const path = '/modelgate.events.v1.EventConfigService/GetConfig';
    const unknown = await request({
      ...grpc,
      ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    });
    assert.equal(unknown.headers['grpc-status'], '12');
    const foreign = await request({ ...grpc, ':path': path, ':authority': 'evil.example' });
    assert.equal(foreign.headers['grpc-status'], '7');
    const two = await request({ ...grpc, ':path': path, host: 'evil.example' });
    assert.equal(two.headers['grpc-status'], '7');
    const page = await request({ ...grpc, ':path': path, origin: 'http://evil.example' });
    assert.equal(page.headers['grpc-status'], '7');
    const own = await request({ ...grpc, ':path': path }, Buffer.from([0, 0, 0, 0, 0]));
    assert.equal(own.trailers['grpc-status'], '0');
    assert.equal(own.headers['x-content-type-options'], 'nosniff');
    assert.match(String(own.headers['x-request-id']), /^req_/);
    request.close();
  });
});

describe('the streams of the service', () => {
  it('end when the gateway stops', async () => {
    const gateway = await startGateway();
    const { key } = JSON.parse(readFileSync(join(gateway.dataDir, 'run.json'), 'utf8')) as { key: string };
    const watches = all.map((protocol) =>
      clientAt(gateway.port, key, protocol).watchConfig({})[Symbol.asyncIterator](),
    );
    for (const watch of watches) assert.equal((await watch.next()).done, false);
    const ends = watches.map((watch) =>
      watch.next().then(
        ({ done }) => done === true,
        () => true,
      ),
    );
    await gateway.stop();
    assert.deepEqual(await Promise.all(ends), [true, true, true]);
  });
});
