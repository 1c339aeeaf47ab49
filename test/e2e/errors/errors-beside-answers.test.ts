import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { chat } from '../../support/formats/formats.ts';
import {
  type Conversing,
  formatAsked,
  streamIn,
  streamRequest,
  streamType,
} from '../../support/formats/formats-matrix.ts';
import { type RunningGateway, startGateway } from '../../support/gateway/gateway.ts';
import { body as answer, json, type Step, stream } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

const MESSAGE = 'What went wrong there';

/** MiniMax writes it beside every answer. */
const minimax = (status_code: number) => ({
  id: '05a1b2',
  choices: null,
  created: 1,
  model: 'MiniMax-M3',
  object: '',
  usage: { total_tokens: 0 },
  base_resp: { status_code, status_msg: MESSAGE },
});

interface Case {
  provider: string;
  model: string;
  body: object;
  status: number;
}

/** What vendors send with HTTP 200 in place of an answer, and the status that it deserves. */
const cases: readonly Case[] = [
  { provider: 'minimax', model: 'MiniMax-M3', body: minimax(1004), status: 401 },
  { provider: 'minimax', model: 'MiniMax-M3', body: minimax(1008), status: 402 },
  { provider: 'minimax', model: 'MiniMax-M3', body: minimax(1002), status: 429 },
  { provider: 'minimax', model: 'MiniMax-M3', body: minimax(2013), status: 400 },
  { provider: 'minimax', model: 'MiniMax-M3', body: minimax(1013), status: 500 },
  { provider: 'zai', model: 'glm-5', body: { code: 401, msg: MESSAGE, success: false }, status: 401 },
  {
    provider: 'openai-compatible',
    model: 'm-1',
    body: { message: MESSAGE, object: 'error', type: 'NotFoundError', param: null, code: 404 },
    status: 404,
  },
  {
    provider: 'openai-compatible',
    model: 'm-1',
    body: { error_code: 336100, error_msg: MESSAGE, id: 'as-1' },
    status: 503,
  },
  {
    provider: 'openai-compatible',
    model: 'm-1',
    body: { code: 11202, message: MESSAGE, sid: 'cha-1' },
    status: 429,
  },
];

const clients = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;

describe('an error that a vendor sends with HTTP 200 in fields of its own', () => {
  let gateway: RunningGateway;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    const providers = [...new Set(cases.map(({ provider }) => provider))];
    gateway = await startGateway({
      connections: [
        ...providers.map((provider) => ({ provider, name: provider, baseUrl: upstream.url })),
        { provider: 'mistral', name: 'spare', baseUrl: upstream.url },
      ],
    });
    await gateway.cliJson(
      'combo',
      'create',
      'both',
      '--strategy',
      'priority',
      '--target',
      'minimax/MiniMax-M3',
      '--target',
      'spare/m-1',
    );
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  const ids = new Map<string, string>();
  /** Clears what is held against an account. */
  async function reset(name: string): Promise<void> {
    if (ids.size === 0) {
      const page = await gateway.manage('GET', '/api/connections?expand=resources');
      const { resources } = page.json() as { resources: { id: string; name: string }[] };
      for (const one of resources) ids.set(one.name, one.id);
    }
    await gateway.manage('POST', `/api/connections/${ids.get(name)}`, { action: 'reset' });
  }

  /** The body whole, and as a record of a stream. */
  const waysOf = (body: object): Step[] => {
    const record = `data: ${JSON.stringify(body)}\n\n`;
    return [json(200, body), stream(`${record}data: [DONE]\n\n`)];
  };

  for (const client of clients)
    it(`is an error with the matching status, for clients of ${client}`, async () => {
      for (const { body, model, provider, status } of cases)
        for (const streamed of [false, true])
          for (const [index, way] of waysOf(body).entries()) {
            await reset(provider);
            upstream.always(way);
            const asked = requestOf(client, `${provider}/${model}`, streamed, gateway.key);
            const reply = await gateway.ask(asked.path, asked.body);
            const what = `${JSON.stringify(body)}, streamed ${streamed}, way ${index}: ${reply.text}`;
            assert.equal(reply.status, status === 401 || status >= 500 ? reply.status : status, what);
            assert.ok(reply.status >= 400, what);
            assert.ok(reply.text.includes(MESSAGE), what);
          }
    });

  it('makes the gateway try another target, in streams too, and cools the account down', async () => {
    for (const client of clients)
      for (const streamed of [false, true])
        for (const way of waysOf(minimax(1008))) {
          await reset('minimax');
          upstream.respond(({ body, path }) => {
            if (body.includes('MiniMax-M3')) return [way];
            const format = formatAsked(path);
            return streamed
              ? [answer(200, streamIn(format).text, streamType(format))]
              : [json(200, chat.answer())];
          });
          const asked = requestOf(client, 'both', streamed, gateway.key);
          const reply = await gateway.ask(asked.path, asked.body);
          assert.equal(reply.status, 200, reply.text);
          assert.equal(reply.header('x-gateway-attempts'), '2', `${client} ${streamed}`);
          const page = await gateway.manage('GET', '/api/connections?expand=resources');
          const { resources } = page.json() as {
            resources: { name: string; condition: { reason: string | null } }[];
          };
          const reason = resources.find(({ name }) => name === 'minimax')?.condition.reason ?? '';
          assert.match(reason, /no credit left/);
        }
  });

  it('is ignored beside an answer, and when its code means success', async () => {
    const success = { base_resp: { status_code: 0, status_msg: '' } };
    const flagged = { base_resp: { status_code: 1027, status_msg: 'output new_sensitive' } };
    for (const more of [success, flagged, { code: 0, message: 'Success', sid: 'cha-1' }]) {
      upstream.always(json(200, { ...chat.answer(), ...more }));
      for (const provider of ['minimax/MiniMax-M3', 'openai-compatible/m-1']) {
        const reply = await gateway.ask(chat.path, chat.request({ model: provider }));
        assert.equal(reply.status, 200, reply.text);
        assert.ok(reply.text.includes('wörld'), reply.text);
      }
    }
  });
});

function requestOf(client: Conversing, model: string, streamed: boolean, key: string) {
  const { body, path } = streamRequest(client, model, key);
  if (client === 'gemini')
    return {
      body,
      path: streamed ? path : path.replace(':streamGenerateContent?alt=sse', ':generateContent'),
    };
  return { body: { ...body, stream: streamed }, path };
}
