import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { fleet } from '../../support/gateway/fleet.ts';
import { bearer } from '../../support/gateway/gateway.ts';
import { chatAnswer, responsesAnswer } from '../../support/upstream/answers.ts';
import { hang, head, json, resetNow, type Step } from '../../support/upstream/steps.ts';
import type { Upstream } from '../../support/upstream/upstream.ts';

const MEGABYTE = 1_048_576;

/** A text whose every part is another, so that a part that is lost or moved shows. */
function text(bytes: number): string {
  let made = '';
  for (let count = 0; made.length < bytes; count += 1) made += `word ${count} `;
  return made.slice(0, bytes);
}

const errorOf = (message: string) => ({ error: { message, type: 'error', code: null } });

/** How the first target fails. */
const failures: Readonly<Record<string, (second: Upstream) => Step[]>> = {
  'answers 500 when it has read all': () => [json(500, errorOf('broken'))],
  'resets the connection in the middle': () => [({ socket }) => void socket.pause(), resetNow()],
  'answers 429 before it has read the body': (second) => [
    async ({ socket, write }) => {
      socket.pause();
      const said = JSON.stringify(errorOf('slow down'));
      const fields = `content-type: application/json\r\ncontent-length: ${said.length}`;
      await write(`HTTP/1.1 429 Scripted\r\n${fields}\r\n\r\n${said}`);
      await second.request();
      socket.resume();
    },
  ],
  'exceeds a time limit': () => [head(200, { 'content-length': '10' }), hang()],
};

describe('a large body', () => {
  const at = fleet(2, {
    config: { timeouts: { first_byte_ms: 2_000 }, prices: { '*/m-1': { input: 10, output: 10 } } },
  });
  const targets = () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    return { first, second };
  };
  before(async () => {
    await at.connectAll('openai-compatible');
    await at.connectAll('responses-compatible');
  });
  const sentTo = async (upstream: Upstream) => (await (await upstream.request()).whole).toString();
  const chat = (bytes: number) => ({
    model: 'openai-compatible/m-1',
    messages: [{ role: 'user', content: text(bytes) }],
  });

  for (const bytes of [MEGABYTE, 8 * MEGABYTE])
    for (const [how, steps] of Object.entries(failures)) {
      const size = `${bytes / MEGABYTE} MB`;
      it(`of ${size} reaches the next target whole where the first ${how}`, async () => {
        const { first, second } = targets();
        second.always(json(200, chatAnswer()));
        first.always(...steps(second));
        const body = JSON.stringify(chat(bytes));
        const reply = await at.gateway.ask('/v1/chat/completions', body);
        assert.equal(reply.status, 200, reply.text);
        assert.equal(reply.header('x-gateway-connection'), 'openai-compatible-1');
        assert.ok((await sentTo(second)) === body.replace('openai-compatible/m-1', 'm-1'));
        await at.gateway.forgive();
      });

      it(`of ${size} is translated for the next target where the first ${how}`, async () => {
        const { first, second } = targets();
        second.always(json(200, chatAnswer()));
        first.always(...steps(second));
        const reply = await at.gateway.ask('/v1/messages', { ...chat(bytes), max_tokens: 100 });
        assert.equal(reply.status, 200, reply.text);
        assert.equal(reply.header('x-gateway-connection'), 'openai-compatible-1');
        const sent = JSON.parse(await sentTo(second)) as { messages: { content: string }[] };
        assert.ok(JSON.stringify(sent.messages[0]?.content).includes(text(bytes)));
        await at.gateway.forgive();
      });
    }

  it('is kept with the response to it', async () => {
    const input = text(MEGABYTE);
    for (const fails of [false, true]) {
      const { first, second } = targets();
      first.always(fails ? json(500, errorOf('broken')) : json(200, responsesAnswer()));
      second.always(json(200, responsesAnswer()));
      const made = await at.gateway.ask('/v1/responses', { model: 'responses-compatible/m-1', input });
      assert.equal(made.status, 200, made.text);
      const path = `/v1/responses/${made.json()['id']}/input_items`;
      const items = await at.gateway.send({ method: 'GET', path, headers: bearer(at.gateway.key) });
      assert.equal(items.status, 200, items.text);
      assert.ok(items.text.includes(input));
      await at.gateway.forgive();
    }
  });

  it('is found in the cache of answers', async () => {
    const { first, second } = targets();
    const { key } = await at.gateway.cliJson('keys', 'add', 'caching', '--cache-ttl', '600');
    first.always(json(500, errorOf('broken')));
    second.always(json(200, chatAnswer()));
    const ask = (bytes: number) => at.gateway.ask('/v1/chat/completions', chat(bytes), bearer(String(key)));
    const states = [await ask(MEGABYTE), await ask(MEGABYTE), await ask(MEGABYTE + 1)].map((reply) =>
      reply.header('x-gateway-cache'),
    );
    assert.deepEqual(states, ['miss', 'hit', 'miss']);
    await at.gateway.forgive();
  });

  it('is estimated where its target does not say what it used', async () => {
    const { first } = targets();
    const { usage: _, ...answer } = chatAnswer() as Record<string, unknown>;
    first.always(json(200, answer));
    const reply = await at.gateway.ask('/v1/chat/completions', chat(MEGABYTE));
    const { estimated, usage } = await at.gateway.entry(reply.header('x-request-id'));
    const input = usage?.['input'] ?? 0;
    assert.ok(estimated && input >= MEGABYTE / 4 && input < MEGABYTE / 3.9, `${input}`);
  });
});
