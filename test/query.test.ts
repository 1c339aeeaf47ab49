import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { messages } from './support/formats/formats.ts';
import { type RunningGateway, startGateway } from './support/gateway/gateway.ts';
import { json } from './support/upstream/steps.ts';
import { startUpstream, type Upstream } from './support/upstream/upstream.ts';

describe("a client's query", () => {
  let upstream: Upstream;
  let gateway: RunningGateway;

  before(async () => {
    upstream = await startUpstream();
    const baseUrl = upstream.url;
    gateway = await startGateway({
      connections: [
        { provider: 'anthropic', name: 'vendor', baseUrl },
        { provider: 'anthropic-compatible', name: 'other', baseUrl },
      ],
    });
  });

  after(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  const pathFor = async (model: string): Promise<string> => {
    upstream.always(json(200, messages.answer()));
    const reply = await gateway.ask('/v1/messages?beta=true&api_key=sk-secret', messages.request({ model }));
    assert.equal(reply.status, 200, reply.text);
    return (await upstream.request()).path;
  };

  it('reaches the vendor whose API it belongs to, without anything that may be a credential', async () => {
    assert.equal(await pathFor('vendor/m-1'), '/v1/messages?beta=true');
  });

  it('reaches no other server of the same format', async () => {
    assert.equal(await pathFor('other/m-1'), '/v1/messages');
  });
});
