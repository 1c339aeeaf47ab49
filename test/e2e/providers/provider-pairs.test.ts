import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { faults } from '../../../src/health/faults.ts';
import {
  type Conversing,
  conversing,
  formatAsked,
  streamIn,
  streamType,
  understood,
} from '../../support/formats/formats-matrix.ts';
import { type RunningGateway, rowsOf, startGateway } from '../../support/gateway/gateway.ts';
import { nativeQuirks, SAID, THOUGHT } from '../../support/upstream/native-quirks.ts';
import { chatStreamOf, chatWholeOf } from '../../support/upstream/provider-answers.ts';
import { providerQuirks } from '../../support/upstream/provider-quirks.ts';
import { body as answer, json, type Step } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

/** A provider with the answers that it gives in the format in which it is asked. */
interface Case {
  provider: string;
  model: string;
  path: string;
  /** Whether its answers show what they thought. */
  thinks: boolean;
  /** What the ledger is to have of an answer in this format; null where that format is as its vendor has it. */
  bucketsIn(format: Conversing): object | null;
  answerIn(format: Conversing, streamed: boolean): Step;
}

const answerOf = (format: Conversing): Step => {
  const { text } = streamIn(format, { text: [SAID], reasoning: [THOUGHT] });
  return answer(200, text, streamType(format));
};

const cases: readonly Case[] = [
  ...providerQuirks.map((quirks) => ({
    provider: quirks.provider,
    model: quirks.model,
    path: '',
    thinks: quirks.reasoning !== null,
    bucketsIn: (format: Conversing) => (format === 'openai-chat' ? quirks.buckets : null),
    answerIn(format: Conversing, streamed: boolean): Step {
      // Only the chat surface departs; the others answer a whole request with a stream as well, which has to be coped with.
      if (format !== 'openai-chat') return answerOf(format);
      return streamed
        ? answer(200, chatStreamOf(quirks), { 'content-type': 'text/event-stream' })
        : json(200, chatWholeOf(quirks));
    },
  })),
  ...nativeQuirks.map((quirks) => ({
    provider: quirks.provider,
    model: quirks.model,
    path: quirks.path ?? '',
    thinks: true,
    bucketsIn: (format: Conversing) => (format === quirks.format ? quirks.buckets : null),
    answerIn(format: Conversing, streamed: boolean): Step {
      if (format !== quirks.format) return answerOf(format);
      const { bytes, type } = quirks.stream();
      return streamed ? answer(200, bytes, { 'content-type': type }) : json(200, quirks.whole());
    },
  })),
];

/** A connection for each; a provider that stands in both lists has one. */
const names = [...new Map(cases.map((one) => [one.provider, one])).values()];

/** A request that wants the model to think, and to show it. */
function requestOf(client: Conversing, model: string, streamed: boolean, key: string) {
  const messages = [{ role: 'user', content: 'hi' }];
  const stream = streamed;
  switch (client) {
    case 'openai-chat':
      return {
        path: '/v1/chat/completions',
        body: {
          model,
          messages,
          stream,
          reasoning_effort: 'high',
          ...(stream && { stream_options: { include_usage: true } }),
        },
      };
    case 'openai-completions':
      return { path: '/v1/completions', body: { model, prompt: 'hi', stream } };
    case 'openai-responses':
      return {
        path: '/v1/responses',
        body: { model, input: 'hi', stream, store: false, reasoning: { effort: 'high', summary: 'auto' } },
      };
    case 'anthropic-messages':
      return {
        path: '/v1/messages',
        body: {
          model,
          messages,
          stream,
          max_tokens: 4000,
          thinking: { type: 'enabled', budget_tokens: 2000 },
        },
      };
    case 'gemini':
      return {
        path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        body: {
          contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
          generationConfig: { thinkingConfig: { includeThoughts: true } },
        },
      };
    case 'ollama':
      return { path: `/api/v1/editor/${key}/api/chat`, body: { model, messages, stream, think: true } };
  }
}

describe('providers in the format of every client', () => {
  let gateway: RunningGateway;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      connections: names.map(({ path, provider }) => ({
        provider,
        name: provider,
        baseUrl: `${upstream.url}${path}`,
      })),
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  for (const client of conversing)
    it(`answer clients of ${client}, and are counted`, async () => {
      const done: { what: string; buckets: object | null; reply: Awaited<ReturnType<typeof gateway.ask>> }[] =
        [];
      for (const one of cases)
        for (const streamed of [false, true]) {
          let asked: Conversing = 'openai-chat';
          upstream.respond(({ path }) => {
            // Addresses of Bedrock and of Anthropic's models on Google's cloud name no format.
            asked = /\/invoke|rawPredict/i.test(path) ? 'anthropic-messages' : formatAsked(path);
            return [one.answerIn(asked, streamed)];
          });
          const request = requestOf(client, `${one.provider}/${one.model}`, streamed, gateway.key);
          const reply = await gateway.ask(request.path, request.body);
          const what = `${one.provider} in ${asked}, streamed ${streamed}`;
          assert.equal(reply.status, 200, `${what}: ${reply.text}`);
          if (streamed) {
            const { parts, text } = understood(client, reply.body);
            assert.equal(text, SAID, `${what}: ${reply.text}`);
            assert.equal(parts.at(-1)?.type, 'message-end', what);
          } else assert.ok(reply.text.includes(SAID), `${what}: ${reply.text}`);
          const shows = client !== 'openai-completions' && one.thinks && asked === 'openai-chat';
          if (shows || (shows && nativeQuirks.some(({ provider }) => provider === one.provider)))
            assert.ok(reply.text.includes(THOUGHT), `${what}: ${reply.text}`);
          done.push({ what, buckets: one.bucketsIn(asked), reply });
        }
      const rows = await rowsOf(
        gateway,
        done.map(({ reply }) => reply),
      );
      for (const [index, { buckets, what }] of done.entries()) {
        const { cache_read, input, output, reasoning } = rows[index]?.usage ?? {};
        if (buckets !== null) assert.deepEqual({ input, cache_read, output, reasoning }, buckets, what);
      }
    });

  it('have errors that are classified as their documentation says', async () => {
    const { key } = JSON.parse(readFileSync(join(gateway.dataDir, 'run.json'), 'utf8')) as { key: string };
    const headers = { host: `127.0.0.1:${gateway.port}`, 'x-auth-token': key };
    const ids = new Map<string, string>();
    const reset = (provider: string) =>
      gateway.manage('POST', `/api/connections/${ids.get(provider)}`, { action: 'reset' });
    const reasonsOf = async (provider: string) => {
      const reply = await gateway.send({ method: 'GET', path: '/api/connections?expand=resources', headers });
      const { resources } = reply.json() as {
        resources: {
          id: string;
          name: string;
          condition: { reason: string | null };
          model_conditions: { reason: string | null }[];
        }[];
      };
      for (const { id, name } of resources) ids.set(name, id);
      const row = resources.find(({ name }) => name === provider);
      return [row?.condition.reason, ...(row?.model_conditions ?? []).map(({ reason }) => reason)];
    };
    const wrong: string[] = [];
    await reasonsOf('');
    for (const { errors, model, provider } of nativeQuirks)
      for (const { body, headers: told = {}, kind, status } of errors) {
        await reset(provider);
        upstream.always(json(status, body, told));
        const { body: request, path } = requestOf('openai-chat', `${provider}/${model}`, false, gateway.key);
        const reply = await gateway.ask(path, request);
        const shown = `${provider} ${status} ${JSON.stringify(body)}`;
        assert.ok(reply.status >= 400, shown);
        const { effect, label } = faults[kind];
        const reasons = (await reasonsOf(provider)).filter((reason) => typeof reason === 'string');
        const right =
          effect.to === 'none' ? reasons.length === 0 : reasons.some((one) => one.includes(label));
        if (!right) wrong.push(`${shown} is ${kind}: ${reasons.join('; ') || 'nothing held against it'}`);
      }
    assert.deepEqual(wrong, []);
  });
});
