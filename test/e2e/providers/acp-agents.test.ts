import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { conversing, streamRequest } from '../../support/formats/formats-matrix.ts';
import { type RunningGateway, rowsOf, startGateway, waitFor } from '../../support/gateway/gateway.ts';

const program = resolve(import.meta.dirname, '../../support/agents/fake-agent.ts');

describe('ACP agents as models', () => {
  let gateway: RunningGateway;

  before(async () => {
    gateway = await startGateway({
      env: { STORAGE_ENCRYPTION_KEY: 'canaryCANARYcanaryCANARY0123456789ab', CANARY: 'canary' },
    });
    const { code, stderr } = await gateway.cli(
      'agents',
      'add',
      'fake',
      ...[
        '--command',
        process.execPath,
        `--arg=${program}`,
        '--arg=--images',
        '--arg=--models',
        '--arg=small,large',
      ],
      ...['--home', 'user', '--model-by', 'set_model', '--enable'],
    );
    assert.equal(code, 0, stderr);
    await waitFor('the model', async () => (await listed()).includes('acp/fake'));
  });
  after(() => gateway?.stop());

  const listed = async () => {
    const reply = await gateway.send({
      method: 'GET',
      path: '/v1/models',
      headers: { authorization: `Bearer ${gateway.key}` },
    });
    return (reply.json() as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  const chat = (content: string, more: object = {}, headers: Record<string, string> = {}) =>
    gateway.ask(
      '/v1/chat/completions',
      { model: 'acp/fake', messages: [{ role: 'user', content }], ...more },
      headers,
    );
  const steps = (...all: object[]) => JSON.stringify(all);
  /** The service of the agent, as the owner of the machine sees and moves it. */
  const service = (body?: object) => {
    const { key } = JSON.parse(readFileSync(join(gateway.dataDir, 'run.json'), 'utf8')) as { key: string };
    const host = `127.0.0.1:${gateway.port}`;
    const headers = { host, 'x-auth-token': key, 'content-type': 'application/json' };
    const path = '/api/services/agent-fake';
    return body === undefined
      ? gateway.send({ method: 'GET', path, headers })
      : gateway.send({ method: 'POST', path, headers, body: JSON.stringify(body) });
  };

  for (const format of conversing)
    it(`stream in the format ${format}`, async () => {
      const { body, path } = streamRequest(format, 'acp/fake', gateway.key);
      const reply = await gateway.ask(path, body, { 'x-goog-api-key': gateway.key });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.header('x-gateway-provider'), 'acp');
      assert.equal(reply.header('x-gateway-model'), 'fake');
      assert.match(reply.text, /turn 1 model null prompt/, reply.text);
      const [row] = await rowsOf(gateway, [reply]);
      assert.equal(row?.outcome, 'ok');
      assert.equal(row?.estimated, true, 'the agent tells no usage');
      assert.ok((row?.usage?.['output'] ?? 0) > 0);
      assert.equal(row?.cost_usd, null);
    });

  it('answer whole, with the use that the agent reports', async () => {
    const usage = { inputTokens: 11, outputTokens: 7 };
    const reply = await chat(steps({ think: 'hm' }, { say: 'whole' }, { stop: 'end_turn', usage }));
    const answer = reply.json() as {
      model: string;
      choices: { message: Record<string, string> }[];
      usage: object;
    };
    assert.equal(answer.model, 'acp/fake');
    assert.equal(answer.choices[0]?.message['content'], 'whole');
    assert.equal(answer.choices[0]?.message['reasoning_content'], 'hm');
    const [row] = await rowsOf(gateway, [reply]);
    assert.deepEqual([row?.usage?.['input'], row?.usage?.['output'], row?.estimated], [11, 7, false]);
  });

  it('are asked by the official clients, for a model of theirs', async () => {
    const openai = new OpenAI({ apiKey: gateway.key, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    const stream = await openai.chat.completions.create({
      model: 'acp/fake/large',
      stream: true,
      messages: [{ role: 'user', content: 'hello' }],
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    assert.equal(text, 'turn 1 model large prompt <<hello>>');
    const anthropic = new Anthropic({ apiKey: gateway.key, baseURL: gateway.url, maxRetries: 0 });
    const message = await anthropic.messages.create({
      model: 'acp/fake',
      max_tokens: 100,
      messages: [{ role: 'user', content: steps({ think: 'let me see' }, { say: 'yes' }) }],
    });
    assert.deepEqual(
      message.content.map((block) => [block.type, block.type === 'text' ? block.text : '']),
      [
        ['thinking', ''],
        ['text', 'yes'],
      ],
    );
  });

  it('continue in their session', async () => {
    const headers = { 'x-session-id': 'conversation-1' };
    const first = await chat('one', {}, headers);
    const { choices } = first.json() as { choices: { message: { content: string } }[] };
    const answer = choices[0]?.message.content ?? '';
    const reply = await gateway.ask(
      '/v1/messages',
      {
        model: 'acp/fake',
        max_tokens: 50,
        messages: [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: answer },
          { role: 'user', content: 'two' },
        ],
      },
      headers,
    );
    assert.match(reply.text, /turn 2 model null prompt <<two>>/);
  });

  it('name what they did not receive, in the terms of the client', async () => {
    const tool = { name: 'f', input_schema: { type: 'object' } };
    const anthropic = await gateway.ask('/v1/messages', {
      model: 'acp/fake',
      max_tokens: 50,
      temperature: 0.5,
      tools: [tool],
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.equal(anthropic.header('x-gateway-dropped'), 'max_tokens,temperature,tools');
    const gemini = await gateway.ask(
      '/v1beta/models/acp/fake:generateContent',
      {
        contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        generationConfig: { maxOutputTokens: 50, topP: 0.5 },
      },
      { 'x-goog-api-key': gateway.key },
    );
    assert.equal(gemini.status, 200, gemini.text);
    assert.match(gemini.header('x-gateway-dropped') ?? '', /^generationConfig\.topP,maxOutputTokens$/);
    const several = await chat('hi', { n: 2 });
    assert.equal(several.status, 400);
    assert.match(several.text, /not_translatable/);
  });

  it('fail as an upstream does, in the dialect of the client', async () => {
    const body = { max_tokens: 9, messages: [{ role: 'user', content: steps({ crash: 3 }) }] };
    const anthropic = await gateway.ask('/v1/messages', { model: 'acp/fake', ...body });
    assert.equal(anthropic.status, 502);
    const error = (anthropic.json() as { error: { type: string; message: string } }).error;
    assert.equal(error.type, 'api_error');
    assert.match(error.message, /ended with exit code 3/);
    const [row] = await rowsOf(gateway, [anthropic]);
    assert.equal(row?.error?.code, 'agent_failed');
    await service({ action: 'restart' });
    const cut = await chat(steps({ say: 'half' }, { crash: 3 }), { stream: true }).catch(
      (cause: Error) => cause,
    );
    if (!(cut instanceof Error))
      assert.doesNotMatch(cut.text, /\[DONE]/, 'half an answer does not look like a whole one');
    await service({ action: 'restart' });
    const combo = await gateway.cli(
      ...[
        'combo',
        'create',
        'agents-first',
        '--strategy',
        'priority',
        '--target',
        'acp/fake',
        '--target',
        'demo/echo',
      ],
    );
    assert.equal(combo.code, 0, combo.stderr);
    await waitFor('the combo', async () => (await listed()).includes('agents-first'));
    const reply = await gateway.ask('/v1/chat/completions', {
      model: 'agents-first',
      messages: [{ role: 'user', content: steps({ crash: 4 }) }],
    });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.header('x-gateway-provider'), 'demo');
    await service({ action: 'restart' });
    await waitFor('an agent that answers', async () => (await chat('again')).status === 200);
  });

  it('stop when the client leaves', async () => {
    const client = await gateway.client();
    const messages = [{ role: 'user', content: steps({ say: 'begun' }, { hang: true }) }];
    await client.send({
      path: '/v1/chat/completions',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'acp/fake', stream: true, messages }),
    });
    const reply = await client.open();
    await reply.until('begun');
    client.destroy();
    const row = await gateway.entry(reply.header('x-request-id'));
    assert.equal(row.outcome, 'aborted');
    assert.equal((await chat('after it')).status, 200);
  });

  it('are services, which are tested, stopped and started', async () => {
    const record = (await service()).json() as Record<string, unknown>;
    assert.deepEqual(
      [record['kind'], record['state'], record['version']],
      ['acp_agent', 'running', process.versions.node],
    );
    const tested = (await service({ action: 'test' })).json() as { message: string };
    assert.match(JSON.stringify(tested), /answered in/);
    assert.equal((await service({ action: 'stop' })).status, 200);
    const refused = await chat('hi');
    assert.equal(refused.status, 503);
    assert.match(refused.text, /was stopped/);
    assert.equal((await service({ action: 'start' })).status, 200);
    assert.equal((await chat('hi')).status, 200);
  });

  it('are refused with the command that fixes it', async () => {
    const unknown = await gateway.ask('/v1/chat/completions', { model: 'acp/nobody', messages: [] });
    assert.equal(unknown.status, 404);
    const disabled = await chat('hi', { model: 'acp/goose' });
    assert.equal(disabled.status, 503);
    assert.match(disabled.text, /gateway agents enable goose|not installed/);
  });

  it('see none of the gateway’s secrets', async () => {
    const reply = await chat(steps({ environment: [] }));
    assert.doesNotMatch(reply.text, /STORAGE_ENCRYPTION_KEY|CANARY|DATA_DIR/);
  });
});
