import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { OpenReply, Reply } from '../../support/clients/client.ts';
import { chat, type Format, formats, messages, responses } from '../../support/formats/formats.ts';
import { bearer, type RunningGateway } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import {
  chunk,
  end,
  fin,
  hang,
  json,
  open,
  pause,
  reset,
  resetNow,
  type Step,
  stall,
  stream,
} from '../../support/upstream/steps.ts';

/** What stands after the upstream's own bytes in a stream that broke between two frames. */
function assertEnding(format: Format, rest: string, says: RegExp): void {
  if (format.name === 'chat') {
    assert.equal(rest, '', 'nothing is added to a chat stream');
    return;
  }
  const type = format.name === 'messages' ? 'error' : 'response.failed';
  const [, event, data] = /^event: (\S+)\ndata: (.*)\n\n$/.exec(rest) ?? assert.fail(`no event: ${rest}`);
  assert.equal(event, type);
  const parsed = JSON.parse(data ?? '') as {
    type: string;
    error?: { type: string; message: string };
    response?: { status: string; error: { code: string; message: string } };
  };
  assert.equal(parsed.type, type);
  assert.match((parsed.error ?? parsed.response?.error)?.message ?? '', says);
  if (format.name === 'messages') assert.match(parsed.error?.type ?? '', /^(?:api|timeout)_error$/);
  else assert.equal(parsed.response?.error.code, 'server_error', 'a code that clients try again after');
  if (format.name === 'responses') assert.equal(parsed.response?.status, 'failed');
}

/** The one event of a stream that carries no content: why there is none. */
function assertTold(format: Format, text: string, says: RegExp): void {
  const [, data] = /^(?:event: .*\n)?data: (.*)\n\n$/.exec(text) ?? assert.fail(`no event: ${text}`);
  const told = JSON.parse(data ?? '') as { type?: string; error?: object; response?: { error: object } };
  assert.equal(told.type, { chat: undefined, messages: 'error', responses: 'response.failed' }[format.name]);
  assert.match(JSON.stringify(told.error ?? told.response?.error), says);
}

function messageOf(reply: Reply): string {
  return (reply.json()['error'] as { message: string }).message;
}

async function opened(gateway: RunningGateway, format: Format): Promise<OpenReply> {
  const client = await gateway.client();
  const body = JSON.stringify(format.request({ stream: true }));
  const headers = { 'content-type': 'application/json', ...bearer(gateway.key) };
  await client.send({ path: format.path, headers, body });
  return client.open();
}

const keepAliveOf = (format: Format) =>
  format.name === 'messages' ? 'event: ping\ndata: {"type": "ping"}\n\n' : ': keep-alive\n\n';

/** The body without the gateway's keep-alives, and how many there were. */
function withoutKeepAlives(format: Format, text: string): { text: string; count: number } {
  const pieces = text.split(keepAliveOf(format));
  return { text: pieces.join(''), count: pieces.length - 1 };
}

/** The format that the upstream is asked in. */
function formatOf(path: string): Format {
  const format = formats.find((one) => path.endsWith(one.path.slice('/v1'.length)));
  return format ?? assert.fail(`no format has ${path}`);
}

/** What the SDKs are given; streams each. */
const hi = [{ role: 'user' as const, content: 'hi' }];
const asked = {
  chat: { model: chat.model, messages: hi, stream: true as const },
  responses: { model: responses.model, input: 'hi' },
  messages: { model: messages.model, max_tokens: 100, messages: hi },
};

/** The ways a connection can break. */
const breaks: Record<string, Step> = {
  'ends it without the final event': end(),
  'closes the connection': fin(),
  'resets the connection': reset(),
};

describe('an upstream that breaks off its stream', () => {
  const at = setting();

  for (const format of formats) {
    const { preamble, content, ending } = format.stream({ reasoning: ['Thinking'] });
    const ask = () => at.gateway.ask(format.path, format.request({ stream: true }));

    for (const [what, breakOff] of Object.entries(breaks)) {
      it(`in ${format.name} and ${what} between two frames is never a clean end`, async () => {
        const sent = preamble + content.slice(0, 3).join('');
        at.upstream.script([open(), chunk(sent, 'frame'), breakOff]);
        const reply = await ask();
        assert.equal(reply.status, 200);
        assert.equal(reply.end, 'cut', 'the connection closes without the final chunk');
        assert.equal(reply.text.slice(0, sent.length), sent, 'what came is passed on as it is');
        assertEnding(format, reply.text.slice(sent.length), /upstream/);
        assert.equal(at.upstream.requests.length, 1, 'it is not asked again after content went out');
        const entry = await at.gateway.entry(reply.header('x-request-id'));
        assert.equal(entry.outcome, 'failed');
        assert.equal(entry.status, 200);
        assert.equal(entry.error?.code, 'upstream_cut');
        assert.equal(entry.streamed, true);
        assert.equal(entry.estimated, true);
        assert.ok((entry.usage?.['output'] ?? 0) > 0, JSON.stringify(entry.usage));
        assert.ok((entry.usage?.['input'] ?? 0) > 0, JSON.stringify(entry.usage));
        if (format.name === 'messages')
          assert.equal(entry.usage?.['input'], 12, 'the upstream told its input');
      });

      it(`in ${format.name} and ${what} inside a frame has nothing put into that frame`, async () => {
        const sent = `${preamble}${content[0]}${content[1]?.slice(0, -20)}`;
        at.upstream.script([open(), chunk(sent), breakOff]);
        const reply = await ask();
        assert.equal(reply.end, 'cut');
        assert.equal(reply.text, sent);
        assert.equal((await at.gateway.entry(reply.header('x-request-id'))).outcome, 'failed');
      });

      it(`in ${format.name} and ${what} before any content is an HTTP error`, async () => {
        at.upstream.script([open(), chunk(preamble, 'frame'), breakOff]);
        const reply = await ask();
        assert.equal(reply.status, 502, reply.text);
        assert.equal(reply.end, 'complete');
        assert.match(reply.header('content-type') ?? '', /^application\/json/);
        assert.match(messageOf(reply), /upstream/i);
        const entry = await at.gateway.entry(reply.header('x-request-id'));
        assert.equal(entry.outcome, 'failed');
        assert.equal(entry.error?.code, 'upstream_cut');
      });
    }

    it(`in ${format.name} before its first byte is asked once more, unseen by the client`, async () => {
      const whole = format.stream();
      at.upstream.script([open(), fin()], [stream(whole.text)]);
      const reply = await ask();
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.text, whole.text);
      assert.equal(reply.header('x-gateway-attempts'), '2');
      const entry = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([entry.outcome, entry.attempts], ['ok', 2]);
    });

    it(`in ${format.name} after its final event took nothing from the client`, async () => {
      const text = preamble + content.join('') + ending;
      at.upstream.script([open(), chunk(text), reset()]);
      const reply = await ask();
      assert.equal(reply.end, 'complete');
      assert.equal(reply.text, text);
      const entry = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([entry.outcome, entry.estimated], ['ok', false]);
    });

    it(`in ${format.name} with a connection that dies at once after content still delivers that content`, async () => {
      const sent = preamble + content[0];
      at.upstream.script([open(), chunk(sent), pause(300), resetNow()]);
      const reply = await ask();
      assert.equal(reply.end, 'cut');
      assert.ok(reply.text.startsWith(sent), reply.text);
    });
  }
});

/** Failures inside HTTP 200 as the vendors send them, and the status they deserve. */
const inBand: Record<Format['name'], Record<string, { frame: string; status: number; says: RegExp }>> = {
  chat: {
    'an error record': {
      frame: 'data: {"error":{"message":"The server had an error","type":"server_error","code":null}}\n\n',
      status: 500,
      says: /The server had an error/,
    },
    'a rate limit': {
      frame: 'data: {"error":{"message":"Slow down","type":"rate_limit_error","code":429}}\n\n',
      status: 429,
      says: /Slow down/,
    },
    'an event named error': {
      frame: 'event: error\ndata: {"message":"It broke"}\n\n',
      status: 502,
      says: /It broke/,
    },
  },
  responses: {
    'response.failed': {
      frame: `event: response.failed\ndata: ${JSON.stringify({
        type: 'response.failed',
        sequence_number: 3,
        response: {
          id: 'resp_1',
          object: 'response',
          status: 'failed',
          error: { code: 'server_error', message: 'It failed over there' },
          output: [],
        },
      })}\n\n`,
      status: 500,
      says: /It failed over there/,
    },
    'a rate limit': {
      frame:
        'event: error\ndata: {"type":"error","code":"rate_limit_exceeded","message":"Slow down","param":null}\n\n',
      status: 429,
      says: /Slow down/,
    },
  },
  messages: {
    overloaded_error: {
      frame:
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
      status: 529,
      says: /Overloaded/,
    },
    api_error: {
      frame: 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"Internal"}}\n\n',
      status: 500,
      says: /Internal/,
    },
  },
};

describe('an upstream that reports a failure inside its stream', () => {
  const at = setting();

  for (const format of formats) {
    const { preamble, content } = format.stream();
    for (const [what, { frame, status, says }] of Object.entries(inBand[format.name])) {
      it(`as ${what} of ${format.name} before any content is an HTTP error with its words`, async () => {
        for (const split of ['whole', 'byte'] as const) {
          at.upstream.script([open(), chunk(preamble + frame, split), hang()]);
          const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
          assert.equal(reply.status, status);
          assert.match(messageOf(reply), says);
          const seen = await at.upstream.request();
          await seen.closed;
          const entry = await at.gateway.entry(reply.header('x-request-id'));
          assert.deepEqual([entry.outcome, entry.status], ['failed', reply.status]);
        }
      });

      it(`as ${what} of ${format.name} after content is passed on as it is and recorded as failed`, async () => {
        const text = preamble + content[0] + frame;
        for (const [how, ending] of Object.entries(breaks)) {
          at.upstream.script([open(), chunk(text), ending]);
          const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
          assert.equal(reply.status, 200);
          assert.equal(reply.text, text, `nothing is added when the upstream then ${how}`);
          const clean = how.startsWith('ends it') && format.name !== 'chat';
          assert.equal(reply.end, clean ? 'complete' : 'cut', `when the upstream then ${how}`);
          const entry = await at.gateway.entry(reply.header('x-request-id'));
          assert.deepEqual([entry.outcome, entry.status, entry.streamed], ['failed', 200, true]);
          assert.equal(entry.error?.code, 'upstream_error');
          assert.match(entry.error.message ?? '', says);
        }
      });
    }

    it(`in ${format.name} after much content is paid for by what had come`, async () => {
      const long = format.stream({ text: ['four '.repeat(400), 'more'] });
      const { frame = '' } = Object.values(inBand[format.name])[0] ?? {};
      at.upstream.script([stream(long.preamble + long.content[0] + frame)]);
      const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
      const { estimated, usage } = await at.gateway.entry(reply.header('x-request-id'));
      assert.equal(estimated, true);
      assert.ok((usage?.['output'] ?? 0) > 200, JSON.stringify(usage));
      assert.ok((usage?.['input'] ?? 0) > 0, JSON.stringify(usage));
    });

    it(`as the words of an error in ${format.name} content is content`, async () => {
      const words = 'event: error\n\ndata: {"error":{"message":"no"}} response.failed [DONE]';
      const text = format.stream({ text: [words, '"error"'] }).text;
      at.upstream.script([stream(text, 'frame')]);
      const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
      assert.equal(reply.text, text);
      const entry = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([entry.outcome, entry.estimated], ['ok', false]);
    });
  }
});

describe('an upstream that streams although a whole answer was asked for', () => {
  const at = setting();

  for (const format of formats) {
    const { preamble, content, ending, text } = format.stream();
    const ask = () => at.gateway.ask(format.path, format.request());

    for (const [what, breakOff] of Object.entries(breaks)) {
      it(`in ${format.name} and ${what} gives no half answer`, async () => {
        at.upstream.script([open(), chunk(preamble + content[0]), breakOff]);
        const reply = await ask();
        assert.equal(reply.status, 502, reply.text);
        assert.match(messageOf(reply), /upstream/i);
        const entry = await at.gateway.entry(reply.header('x-request-id'));
        assert.deepEqual([entry.outcome, entry.status], ['failed', 502]);
      });

      it(`in ${format.name} and ${what} after its final event has given a whole answer`, async () => {
        at.upstream.script([open(), chunk(text), breakOff]);
        const reply = await ask();
        assert.equal(reply.status, 200, reply.text);
        assert.match(reply.text, /Hello, wörld/);
        const entry = await at.gateway.entry(reply.header('x-request-id'));
        assert.deepEqual([entry.outcome, entry.estimated], ['ok', false]);
      });
    }

    for (const [what, { frame, status, says }] of Object.entries(inBand[format.name])) {
      it(`and reports ${what} in ${format.name} is an HTTP error with its words`, async () => {
        for (const before of [preamble, preamble + content[0]]) {
          for (const breakOff of [end(), reset()]) {
            at.upstream.script([open(), chunk(before + frame), breakOff]);
            const reply = await ask();
            assert.equal(reply.status, status, reply.text);
            assert.match(messageOf(reply), says);
            const entry = await at.gateway.entry(reply.header('x-request-id'));
            assert.deepEqual([entry.outcome, entry.error?.code], ['failed', 'upstream_error']);
          }
        }
      });

      it(`and reports ${what} in ${format.name} after its final event has answered all the same`, async () => {
        at.upstream.script([stream(preamble + content.join('') + ending + frame)]);
        const reply = await ask();
        assert.equal(reply.status, 200, reply.text);
        assert.match(reply.text, /Hello, wörld/);
      });
    }
  }
});

describe('an upstream that is silent', () => {
  const at = setting({
    config: { keepalive_ms: 300, timeouts: { headers_ms: 4000, first_byte_ms: 4000, idle_ms: 4000 } },
  });

  for (const format of formats) {
    const { preamble, content, ending, text } = format.stream();

    it(`before its headers does not leave the client of ${format.name} without a sign`, async () => {
      const gate = Promise.withResolvers<void>();
      at.upstream.script([stall(gate.promise), stream(text)]);
      const reply = await opened(at.gateway, format);
      assert.equal(reply.status, 200);
      await reply.until(keepAliveOf(format).repeat(2));
      gate.resolve();
      const whole = await reply.whole;
      assert.equal(whole.end, 'complete');
      assert.equal(withoutKeepAlives(format, whole.text).text, text);
      assert.equal((await at.gateway.entry(reply.header('x-request-id'))).outcome, 'ok');
    });

    it(`between two frames of ${format.name} has keep-alives put there and nowhere else`, async () => {
      const gates = [1, 2, 3].map(() => Promise.withResolvers<void>());
      const [afterPreamble, afterContent, insideFrame] = gates.map((gate) => stall(gate.promise));
      const half = content[1]?.slice(0, -30) ?? '';
      const rest = content.join('').slice((content[0] ?? '').length + half.length) + ending;
      assert.ok(afterPreamble && afterContent && insideFrame);
      at.upstream.script([
        open(),
        chunk(preamble),
        afterPreamble,
        chunk(content[0] ?? ''),
        afterContent,
        chunk(half),
        insideFrame,
        chunk(rest),
        end(),
      ]);
      const keepAlive = keepAliveOf(format);
      const reply = await opened(at.gateway, format);
      await reply.until(keepAlive);
      assert.equal(withoutKeepAlives(format, reply.soFar()).text, '', 'a preamble is held back');
      gates[0]?.resolve();
      await reply.until(content[0] + keepAlive);
      gates[1]?.resolve();
      await reply.until(half);
      await delay(1000);
      assert.ok(reply.soFar().endsWith(half), 'nothing is put inside a frame');
      gates[2]?.resolve();
      const whole = await reply.whole;
      assert.equal(whole.end, 'complete');
      assert.equal(withoutKeepAlives(format, whole.text).text, text);
      const entry = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([entry.outcome, entry.estimated], ['ok', false]);
    });

    it(`but for comments before ${format.name} content does not leave the client without a sign`, async () => {
      const gate = Promise.withResolvers<void>();
      const sign = { given: false };
      void gate.promise.then(() => {
        sign.given = true;
      });
      const comment = ': PROCESSING\n\n';
      const comments: Step = async (turn) => {
        while (!sign.given && (await chunk(comment)(turn)) !== false) await delay(50);
      };
      at.upstream.script([
        open(),
        chunk(preamble),
        comments,
        chunk(content.join('') + ending, 'byte'),
        end(),
      ]);
      const reply = await opened(at.gateway, format);
      await reply.until(keepAliveOf(format).repeat(2));
      gate.resolve();
      const whole = await reply.whole;
      assert.equal(whole.end, 'complete');
      const plain = withoutKeepAlives(format, whole.text).text.replaceAll(comment, '');
      assert.equal(plain, text);
    });

    it(`longer than its idle limit in the middle of ${format.name} has its stream ended as broken`, async () => {
      const sent = preamble + content[0];
      at.upstream.script([open(), chunk(sent), hang()]);
      const reply = await (await opened(at.gateway, format)).whole;
      assert.equal(reply.end, 'cut');
      const { text: body, count } = withoutKeepAlives(format, reply.text);
      assert.ok(count > 1, 'it was kept alive until then');
      assert.equal(body.slice(0, sent.length), sent);
      assertEnding(format, body.slice(sent.length), /stalled/);
      const seen = await at.upstream.request();
      await seen.closed;
      const entry = await at.gateway.entry(reply.header('x-request-id'));
      assert.equal(entry.outcome, 'failed');
      assert.equal(entry.error?.code, 'upstream_timeout');
    });

    it(`and then breaks off before ${format.name} content has the already open stream ended as broken`, async () => {
      const gate = Promise.withResolvers<void>();
      at.upstream.script([stall(gate.promise), json(503, format.error('No room', 'overloaded_error'))]);
      const reply = await opened(at.gateway, format);
      await reply.until(keepAliveOf(format));
      gate.resolve();
      const whole = await reply.whole;
      assert.equal(whole.end, 'cut');
      assertTold(format, withoutKeepAlives(format, whole.text).text, /No room/);
      assert.equal((await at.gateway.entry(reply.header('x-request-id'))).outcome, 'failed');
    });
  }

  for (const format of formats) {
    const { preamble, content } = format.stream();
    const sure = 'the stream is open before the upstream goes on';

    it(`until ${format.name} headers or a first byte are due has the already open stream ended as broken`, async () => {
      const hangs = { 'no response headers came': [hang()], 'no first byte came': [open(), hang()] };
      for (const [says, steps] of Object.entries(hangs)) {
        at.upstream.script(steps);
        const reply = await (await opened(at.gateway, format)).whole;
        assert.deepEqual([reply.status, reply.end], [200, 'cut']);
        const { text, count } = withoutKeepAlives(format, reply.text);
        assert.ok(count > 1, 'it was kept alive until then');
        assertTold(format, text, new RegExp(says));
        await (await at.upstream.request()).closed;
        const entry = await at.gateway.entry(reply.header('x-request-id'));
        assert.deepEqual([entry.outcome, entry.status], ['failed', 200]);
        assert.equal(entry.error?.code, 'upstream_timeout');
        assert.match(entry.error.message ?? '', new RegExp(says));
      }
    });

    it(`and then reports a failure before ${format.name} content has it told inside the open stream`, async () => {
      for (const { frame, says } of Object.values(inBand[format.name])) {
        const gate = Promise.withResolvers<void>();
        at.upstream.script([open(), chunk(preamble), stall(gate.promise), chunk(frame), end()]);
        const reply = await opened(at.gateway, format);
        await reply.until(keepAliveOf(format));
        assert.equal(reply.status, 200, sure);
        gate.resolve();
        const whole = await reply.whole;
        assertTold(format, withoutKeepAlives(format, whole.text).text, says);
        const entry = await at.gateway.entry(reply.header('x-request-id'));
        assert.deepEqual([entry.outcome, entry.error?.code], ['failed', 'upstream_error']);
        assert.match(entry.error?.message ?? '', says);
      }
    });

    it(`and then ends after a ${format.name} preamble has the already open stream ended as broken`, async () => {
      for (const breakOff of Object.values(breaks)) {
        const gate = Promise.withResolvers<void>();
        at.upstream.script([open(), chunk(preamble), stall(gate.promise), breakOff]);
        const reply = await opened(at.gateway, format);
        await reply.until(keepAliveOf(format));
        assert.equal(reply.status, 200, sure);
        gate.resolve();
        const whole = await reply.whole;
        assert.equal(whole.end, 'cut');
        assertTold(format, withoutKeepAlives(format, whole.text).text, /upstream/);
        const entry = await at.gateway.entry(reply.header('x-request-id'));
        assert.deepEqual([entry.outcome, entry.error?.code], ['failed', 'upstream_cut']);
      }
    });

    it(`for less than its idle limit each time may take longer than that in all (${format.name})`, async () => {
      const { ending, text } = format.stream();
      const comments = Array.from({ length: 8 }, (_, index) => `: thinking ${index}\n\n`);
      const slow = [preamble, ...comments, ...content, ending];
      const expected = text.replace(preamble, () => preamble + comments.join(''));
      at.upstream.script([open(), ...slow.flatMap((piece) => [chunk(piece), pause(600)]), end()]);
      const began = performance.now();
      const reply = await (await opened(at.gateway, format)).whole;
      assert.ok(performance.now() - began > 6000, 'longer than the limit');
      assert.equal(reply.end, 'complete');
      const { text: body, count } = withoutKeepAlives(format, reply.text);
      assert.equal(body, expected);
      assert.ok(count > 1, String(count));
      const entry = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([entry.outcome, entry.estimated], ['ok', false]);
    });
  }

  it("for too long makes the vendors' SDKs throw", async () => {
    const openai = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key, maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 0 });
    at.upstream.respond(({ path }) => {
      const { preamble, content } = formatOf(path).stream();
      return [open(), chunk(preamble + content[0]), hang()];
    });
    const chunks = await openai.chat.completions.create(asked.chat);
    const half: string[] = [];
    await Promise.all([
      assert.rejects(async () => {
        for await (const part of chunks) half.push(part.choices[0]?.delta.content ?? '');
      }),
      assert.rejects(openai.responses.stream(asked.responses).finalResponse()),
      assert.rejects(anthropic.messages.stream(asked.messages).finalMessage(), Anthropic.APIError),
    ]);
    assert.equal(half.join(''), 'Hel');
  });

  it('but for pings in another format does not leave the client without a sign', async () => {
    const { preamble, content, ending } = messages.stream();
    const sign = { given: false };
    const pings: Step = async (turn) => {
      const ping = chunk('event: ping\ndata: {"type":"ping"}\n\n');
      while (!sign.given && (await ping(turn)) !== false) await delay(50);
    };
    at.upstream.script([open(), chunk(preamble), pings, chunk(content.join('') + ending), end()]);
    const reply = await opened(at.gateway, {
      ...chat,
      request: (more) => chat.request({ model: messages.model, ...more }),
    });
    await reply.until(keepAliveOf(chat).repeat(2));
    sign.given = true;
    const whole = await reply.whole;
    assert.equal(whole.end, 'complete');
    assert.match(whole.text, /wörld/);
    assert.match(whole.text, /\[DONE\]\n\n$/);
  });

  it('while a whole answer was asked for gets no bytes put before that answer', async () => {
    for (const format of formats) {
      const gate = Promise.withResolvers<void>();
      const answer = format.answer();
      at.upstream.script([stall(gate.promise), json(200, answer)]);
      const asked = at.gateway.ask(format.path, format.request());
      await delay(1000);
      gate.resolve();
      assert.equal((await asked).text, JSON.stringify(answer));
    }
  });

  it("does not disturb the vendors' SDKs", async () => {
    const openai = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key, maxRetries: 0 });
    const anthropic = new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 0 });
    const slow = (format: Format) => {
      const { preamble, content, ending } = format.stream();
      return [
        pause(700),
        open(),
        chunk(preamble + content[0]),
        pause(700),
        chunk(content.slice(1).join('') + ending),
        end(),
      ];
    };
    const expected = 'Hello, wörld 🙂';
    at.upstream.script(slow(chat));
    const chunks = await openai.chat.completions.create({
      model: chat.model,
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
    });
    let text = '';
    for await (const part of chunks) text += part.choices[0]?.delta.content ?? '';
    assert.equal(text, expected);

    at.upstream.script(slow(responses));
    const response = await openai.responses.stream({ model: responses.model, input: 'hi' }).finalResponse();
    assert.equal(response.output_text, expected);

    at.upstream.script(slow(messages));
    const message = anthropic.messages.stream({
      model: messages.model,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.equal(await message.finalText(), expected);
  });
});

describe("the vendors' SDKs and a stream that breaks off", () => {
  const at = setting();
  const openai = () => new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key, maxRetries: 0 });
  const anthropic = () => new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 0 });

  for (const [what, breakOff] of Object.entries(breaks)) {
    const broken = (format: Format) => [
      open(),
      chunk(format.stream().preamble + format.stream().content[0]),
      breakOff,
    ];

    it(`do not take half an answer for a whole one when the upstream ${what}`, async () => {
      at.upstream.script(broken(chat));
      const chunks = await openai().chat.completions.create({
        model: chat.model,
        messages: [{ role: 'user', content: 'hi' }],
        stream: true,
      });
      let text = '';
      await assert.rejects(async () => {
        for await (const part of chunks) text += part.choices[0]?.delta.content ?? '';
      });
      assert.equal(text, 'Hel');

      at.upstream.script(broken(responses));
      const events = await openai().responses.create({ model: responses.model, input: 'hi', stream: true });
      const types: string[] = [];
      await assert.rejects(async () => {
        for await (const event of events) types.push(event.type);
      });
      assert.ok(types.includes('response.output_text.delta'));
      assert.equal(types.at(-1), 'response.failed');

      at.upstream.script(broken(messages));
      const message = anthropic().messages.stream({
        model: messages.model,
        max_tokens: 100,
        messages: [{ role: 'user', content: 'hi' }],
      });
      await assert.rejects(message.finalMessage(), Anthropic.APIError);
    });
  }

  for (const [what, breakOff] of Object.entries(breaks)) {
    it(`get no answer from what collects a stream, and none asked for whole, when the upstream ${what}`, async () => {
      at.upstream.respond(({ path }) => {
        const { preamble, content } = formatOf(path).stream();
        return [open(), chunk(preamble + content[0]), breakOff];
      });
      const { stream: _, ...whole } = asked.chat;
      await assert.rejects(openai().chat.completions.stream(asked.chat).finalChatCompletion());
      await assert.rejects(openai().responses.stream(asked.responses).finalResponse());
      await assert.rejects(anthropic().messages.stream(asked.messages).finalText());
      await assert.rejects(openai().chat.completions.create(whole), OpenAI.InternalServerError);
      await assert.rejects(openai().responses.create(asked.responses), OpenAI.InternalServerError);
      await assert.rejects(anthropic().messages.create(asked.messages), Anthropic.InternalServerError);
    });
  }

  it('throw for a failure that is reported after content', async () => {
    const texts: string[] = [];
    for (const [what, { frame, says }] of Object.entries(inBand.chat)) {
      at.upstream.script([stream(chat.stream().preamble + chat.stream().content[0] + frame)]);
      const chunks = await openai().chat.completions.create(asked.chat);
      // The SDK takes an error record without the member `error` for a chunk; only the reset makes it throw.
      const known = what !== 'an event named error';
      const read = async () => {
        for await (const part of chunks) texts.push(part.choices?.[0]?.delta.content ?? '');
      };
      await assert.rejects(read, known ? says : /terminated/);
    }
    assert.deepEqual(
      texts.filter((text) => text !== ''),
      ['Hel', 'Hel', 'Hel'],
    );

    for (const { frame, says } of Object.values(inBand.messages)) {
      at.upstream.script([stream(messages.stream().preamble + messages.stream().content[0] + frame)]);
      await assert.rejects(anthropic().messages.stream(asked.messages).finalMessage(), says);
    }

    const { 'response.failed': failed, 'a rate limit': limited } = inBand.responses;
    const before = responses.stream().preamble + responses.stream().content[0];
    at.upstream.script([stream(before + failed?.frame)], [stream(before + limited?.frame)]);
    const response = await openai().responses.stream(asked.responses).finalResponse();
    assert.equal(response.status, 'failed', 'the SDK hands out a failed response as one');
    await assert.rejects(openai().responses.stream(asked.responses).finalResponse(), {
      message: 'Slow down',
    });
  });

  it('try again by themselves when the stream failed before any content', async () => {
    const failed = (format: Format) => [
      open(),
      chunk(format.stream().preamble + Object.values(inBand[format.name])[0]?.frame),
      end(),
    ];
    at.upstream.script(failed(chat), [stream(chat.stream().text)]);
    const retrying = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key, maxRetries: 1 });
    const chunks = await retrying.chat.completions.create({
      model: chat.model,
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
    });
    let text = '';
    for await (const part of chunks) text += part.choices[0]?.delta.content ?? '';
    assert.equal(text, 'Hello, wörld 🙂');

    at.upstream.script(failed(messages), [stream(messages.stream().text)]);
    const claude = new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 1 });
    const message = claude.messages.stream({
      model: messages.model,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.equal(await message.finalText(), 'Hello, wörld 🙂');
  });
});
