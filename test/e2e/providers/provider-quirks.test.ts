import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { faults } from '../../../src/health/faults.ts';
import { chat, messages } from '../../support/formats/formats.ts';
import { type RunningGateway, startGateway } from '../../support/gateway/gateway.ts';
import { SAID, THOUGHT } from '../../support/upstream/native-quirks.ts';
import { chatStreamOf, chatWholeOf } from '../../support/upstream/provider-answers.ts';
import { providerQuirks } from '../../support/upstream/provider-quirks.ts';
import { body as answer, json } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

describe('the thirty most used providers, as their documentation says that they behave', () => {
  let gateway: RunningGateway;
  let upstream: Upstream;
  let owner: Record<string, string>;
  const ids = new Map<string, string>();
  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      connections: providerQuirks.map(({ provider }) => ({
        provider,
        name: provider,
        baseUrl: upstream.url,
      })),
    });
    const { key } = JSON.parse(readFileSync(join(gateway.dataDir, 'run.json'), 'utf8')) as { key: string };
    owner = { host: `127.0.0.1:${gateway.port}`, 'x-auth-token': key, 'content-type': 'application/json' };
    for (const { id, name } of (await connectionRows()).values()) ids.set(name, id);
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  interface ConnectionRow {
    id: string;
    name: string;
    condition: { reason: string | null };
    model_conditions: { reason: string | null }[];
  }

  async function connectionRows(): Promise<Map<string, ConnectionRow>> {
    const reply = await gateway.send({
      method: 'GET',
      path: '/api/connections?expand=resources',
      headers: owner,
    });
    const { resources } = reply.json() as { resources: ConnectionRow[] };
    return new Map(resources.map((row) => [row.name, row]));
  }

  const reset = (provider: string) =>
    gateway.send({
      method: 'POST',
      path: `/api/connections/${ids.get(provider)}`,
      headers: owner,
      body: JSON.stringify({ action: 'reset' }),
    });

  it('are thirty, each with a page that says so', () => {
    assert.ok(providerQuirks.length >= 30, String(providerQuirks.length));
    for (const { page, provider } of providerQuirks) assert.ok(URL.canParse(page), provider);
  });

  for (const quirks of providerQuirks) {
    const { buckets, provider, reasoning } = quirks;
    const model = `${provider}/${quirks.model}`;

    it(`${provider}: answers and streams reach Anthropic's clients with their reasoning, and are counted`, async () => {
      const inChat = (path: string) => path.includes('/chat/completions');
      for (const stream of [false, true]) {
        const request = messages.request({
          model,
          stream,
          max_tokens: 4000,
          thinking: { type: 'enabled', budget_tokens: 2000 },
        });
        upstream.always(
          stream
            ? answer(200, chatStreamOf(quirks), { 'content-type': 'text/event-stream' })
            : json(200, chatWholeOf(quirks)),
        );
        // A provider with a messages surface of its own is asked there: its chat surface is what this is about.
        const native = chat.request({
          model,
          stream,
          ...(stream && { stream_options: { include_usage: true } }),
        });
        const own = await gateway.ask(chat.path, native);
        assert.equal(own.status, 200, own.text);
        const row = await gateway.entry(own.header('x-request-id'));
        const { cache_read, input, output, reasoning: thoughts } = row.usage ?? {};
        if (upstream.requests.some(({ path }) => inChat(path)))
          assert.deepEqual({ input, cache_read, output, reasoning: thoughts }, buckets, `stream ${stream}`);
        assert.ok(own.text.includes(SAID), own.text);
        upstream.always(
          stream
            ? answer(200, chatStreamOf(quirks), { 'content-type': 'text/event-stream' })
            : json(200, chatWholeOf(quirks)),
        );
        const reply = await gateway.ask(messages.path, request);
        const asked = upstream.requests.filter(({ method }) => method === 'POST');
        if (!asked.every(({ path }) => inChat(path))) continue;
        assert.equal(reply.status, 200, reply.text);
        assert.ok(reply.text.includes(SAID), reply.text);
        assert.equal(reply.text.includes(THOUGHT), reasoning !== null, `stream ${stream}: ${reply.text}`);
        if (reasoning !== null) assert.match(reply.text, /"thinking"/);
      }
    });

    it(`${provider}: its errors mean what it says`, async () => {
      for (const { body, headers = {}, kind, status } of quirks.errors) {
        await reset(provider);
        upstream.always(
          typeof body === 'string' ? answer(status, body, headers) : json(status, body, headers),
        );
        const reply = await gateway.ask(chat.path, chat.request({ model }));
        assert.ok(reply.status >= 400, `${status} ${JSON.stringify(body)}: ${reply.status}`);
        const shown = JSON.stringify(body);
        if (kind === 'request' || kind === 'context') assert.equal(reply.status, 400 + (status % 100), shown);
        const row = (await connectionRows()).get(provider);
        const reasons = [row?.condition.reason, ...(row?.model_conditions ?? []).map(({ reason }) => reason)];
        const { effect, label } = faults[kind];
        if (effect.to === 'none') assert.deepEqual(reasons.filter(Boolean), [], shown);
        else
          assert.ok(
            reasons.some((reason) => reason?.includes(label)),
            `${shown} is ${kind}: ${reasons.join('; ')}`,
          );
      }
      await reset(provider);
    });
  }
});
