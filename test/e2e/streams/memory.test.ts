import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { OpenReply, RawClient } from '../../support/clients/client.ts';
import { chat, messages } from '../../support/formats/formats.ts';
import { bearer, type RunningGateway, startGateway, waitFor } from '../../support/gateway/gateway.ts';
import { createMeter } from '../../support/machine/meter.ts';
import { chunk, end, open, stall } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

const MEGABYTE = 1024 * 1024;
const STREAMS = 20;
const BODY = 4 * MEGABYTE;

describe('a stream that has begun', () => {
  const meter = createMeter();
  const started: { upstream?: Upstream; gateway?: RunningGateway } = {};
  before(async () => {
    started.upstream = await startUpstream();
    const baseUrl = started.upstream.url;
    started.gateway = await startGateway({
      env: meter.env,
      connections: [
        { provider: 'openai-compatible', name: 'up', baseUrl },
        { provider: 'anthropic-compatible', name: 'other', baseUrl },
      ],
    });
    await meter.open();
    await started.gateway.cliJson('budgets', 'set', '--requests', '1000', '--per', 'day');
    await started.gateway.cliJson('combo', 'create', 'two', '--target', 'up/m-1', '--target', 'up/m-2');
  });
  after(async () => {
    meter.close();
    await started.gateway?.stop();
    await started.upstream?.close();
  });

  for (const [what, model, { stream }] of [
    ['of one target', 'up/m-1', chat],
    ['of a combo with sessions', 'two', chat],
    ['translated', 'other/m-1', messages],
  ] as const) {
    it(`releases the memory of its request (${what})`, async () => {
      const { gateway, upstream } = started;
      assert.ok(gateway && upstream);
      const { content, ending, preamble } = stream();
      const gate = Promise.withResolvers<void>();
      upstream.always(
        open(),
        chunk(preamble + content[0]),
        stall(gate.promise),
        chunk(content.slice(1).join('') + ending),
        end(),
      );
      const turns = [
        { role: 'user', content: 'x'.repeat(BODY) },
        { role: 'assistant', content: 'yes' },
        { role: 'user', content: 'go on' },
      ];
      const body = JSON.stringify({ model, stream: true, messages: turns });
      const headers = { ...bearer(gateway.key), host: '127.0.0.1', 'content-type': 'application/json' };
      const before = await meter.heldBytes();
      const begun: { client: RawClient; reply: OpenReply }[] = [];
      for (let index = 0; index < STREAMS; index += 1) {
        const client = await gateway.client();
        await client.send({ path: '/v1/chat/completions', headers, body });
        const reply = await client.open();
        await reply.until('data:');
        begun.push({ client, reply });
      }
      await waitFor(
        'the memory to be let go of',
        async () => (await meter.heldBytes()) - before < (STREAMS * BODY) / 10,
      );
      gate.resolve();
      for (const { client, reply } of begun) {
        assert.match((await reply.whole).text, /\[DONE\]/);
        client.destroy();
      }
    });
  }
});
