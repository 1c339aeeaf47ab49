import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Format, formats } from '../../support/formats/formats.ts';
import { type RunningGateway, settledRows, startGateway } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';
import { startUpstream } from '../../support/upstream/upstream.ts';

const providers = {
  chat: 'openai-compatible',
  responses: 'openai',
  messages: 'anthropic-compatible',
} as const;

/** A connection of `from`, for `format`, to the gateway `to`, or to what stands before it. */
async function chain(
  from: RunningGateway,
  to: RunningGateway,
  format: Format,
  name: string,
  baseUrl = to.url,
): Promise<void> {
  await from.connect({ provider: providers[format.name], name, baseUrl, apiKey: to.key });
}

/** Passes connections on to a port, as a proxy before a gateway does. Returns its URL. */
async function passageTo(port: () => number, onClose: (close: () => void) => void): Promise<string> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port(), '127.0.0.1');
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => open.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  onClose(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return `http://127.0.0.1:${address.port}`;
}

/** The ids of `x-gateway-via`. */
const hops = (via: string | undefined): string[] => (via ?? '').split(',').map((id) => id.trim());

const at = setting();

describe('a gateway whose connection leads to itself', () => {
  let outside = '';
  let close = () => {};
  before(async () => {
    outside = await passageTo(
      () => at.gateway.port,
      (closing) => (close = closing),
    );
  });
  after(() => close());

  for (const format of formats) {
    it(`answers 508 at once and asks itself no second time (${format.name})`, async () => {
      await chain(at.gateway, at.gateway, format, `loop-${format.name}`, outside);
      const model = `loop-${format.name}/loop-${format.name}/m-1`;
      const before = await settledRows(at.gateway);
      for (const stream of [false, true]) {
        const reply = await at.gateway.ask(format.path, format.request({ model, stream }));
        assert.equal(reply.status, 508);
        const { error } = reply.json() as { error: { message: string } };
        assert.match(error.message, /its own request.*base URL/);
        const entry = await at.gateway.entry(reply.header('x-request-id'));
        assert.equal(entry.outcome, 'failed');
        assert.equal(entry.status, 508);
        assert.equal(entry.attempts, 1);
      }
      assert.equal((await at.gateway.entries()).length, before + 4, 'each request went round once');
    });
  }

  it('still serves its other connections', async () => {
    const [format] = formats;
    at.upstream.always(json(200, format.answer()));
    assert.equal((await at.gateway.ask(format.path, format.request())).status, 200);
  });

  it('notices itself among other gateways, and only as a whole name', async () => {
    const [format] = formats;
    at.upstream.always(json(200, format.answer()));
    await at.gateway.ask(format.path, format.request());
    const [first] = at.upstream.requests;
    const id = first?.header('x-gateway-via') ?? '';
    assert.match(id, /^[\w-]{8,}$/);
    const viaOf = (via: string) => at.gateway.ask(format.path, format.request(), { 'x-gateway-via': via });
    assert.equal((await viaOf(`other, ${id}, third`)).status, 508);
    assert.equal((await viaOf(`other,${id}`)).status, 508);
    assert.equal((await viaOf(`x${id}`)).status, 200, 'another gateway may have a longer name');
    assert.equal((await viaOf('')).status, 200);
  });
});

describe('two gateways that lead to each other', () => {
  const started: RunningGateway[] = [];
  before(async () => {
    started.push(await startGateway(), await startGateway());
  });
  after(async () => {
    for (const gateway of started) await gateway.stop();
  });

  for (const format of formats) {
    it(`answer 508 after one round (${format.name})`, async () => {
      const [one, two] = started;
      assert.ok(one && two);
      const name = `peer-${format.name}`;
      await chain(one, two, format, name);
      await chain(two, one, format, name);
      const reply = await one.ask(format.path, format.request({ model: `${name}/${name}/${name}/m-1` }));
      assert.equal(reply.status, 508);
      const entry = await one.entry(reply.header('x-request-id'));
      assert.equal(entry.error?.code, 'upstream_error');
      await settledRows(two);
      const passed = (await two.entries()).filter(({ requested_model }) => requested_model?.startsWith(name));
      assert.deepEqual(
        passed.map(({ format: wire }) => wire),
        [format.ledger],
      );
    });
  }
});

describe('gateways in a row', () => {
  it('serve a request and name each other to the last upstream', async () => {
    const upstream = await startUpstream();
    const started: RunningGateway[] = [];
    try {
      const last = await startGateway({
        connections: [{ provider: 'openai-compatible', name: 'up', baseUrl: upstream.url }],
      });
      started.push(last);
      const [format] = formats;
      await chain(at.gateway, last, format, 'last');
      upstream.always(json(200, format.answer()));
      const reply = await at.gateway.ask(format.path, format.request({ model: 'last/up/m-1' }));
      assert.equal(reply.status, 200);
      const request = await upstream.request();
      const ids = hops(request.header('x-gateway-via'));
      assert.equal(ids.length, 2);
      assert.equal(new Set(ids).size, 2);
      assert.equal(JSON.parse((await request.whole).toString()).model, 'm-1');
      // Each hop has an id of its own, and the next one's is found in the ledger of the one before.
      const entry = await at.gateway.entry(reply.header('x-request-id'));
      assert.ok(entry.upstream_request_id);
      assert.equal((await last.entry(entry.upstream_request_id)).outcome, 'ok');
      assert.equal(request.header('authorization'), 'Bearer upstream-secret');
    } finally {
      for (const gateway of started) await gateway.stop();
      await upstream.close();
    }
  });
});
