import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { asAsked, chat, type Format, formats, messages, responses } from '../../support/formats/formats.ts';
import { bearer, rowsOf } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chunk, cut, end, flood, head, json, open, type Step, stream } from '../../support/upstream/steps.ts';

function messageOf(reply: Reply): string {
  return (reply.json()['error'] as { message: string }).message;
}

const errorFrame: Record<Format['name'], string> = {
  chat: 'data: {"error":{"message":"It broke","type":"rate_limit_error","code":429}}\n\n',
  responses: 'event: error\ndata: {"type":"error","code":"rate_limit_exceeded","message":"It broke"}\n\n',
  messages:
    'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"It broke"}}\n\n',
};

/** Other ways to write the same records, all allowed by the standard (WHATWG HTML, "Server-sent events"). */
const framings: Record<string, (text: string) => string> = {
  'CRLF line ends': (text) => text.replaceAll('\n', '\r\n'),
  'CR line ends': (text) => text.replaceAll('\n', '\r'),
  'no space after the colon': (text) => text.replace(/^(data|event): /gm, '$1:'),
  'a byte order mark': (text) => `\ufeff${text}`,
  'a byte order mark and CRLF': (text) => `\ufeff${text.replaceAll('\n', '\r\n')}`,
  comments: (text) => `: hello\n\n${text.replaceAll('\n\n', '\n\n: ping\n\n')}`,
  'comments inside records': (text) => text.replace(/^data: /gm, ': note\ndata: '),
  'unknown fields': (text) => `retry: 3000\n\n${text.replace(/^data: /gm, 'id: 7\nx-vendor: y\ndata: ')}`,
  'several data lines': (text) =>
    text.replace(/^data: \{/gm, 'data: {\ndata: ').replaceAll('}\n\n', '\ndata:}\n\n'),
  'blank lines in between': (text) => `\n\n${text.replaceAll('\n\n', '\n\n\n\n')}`,
  'the data before the event': (text) => text.replace(/^(event: .*)\n(data: .*)$/gm, '$2\n$1'),
};

describe('a stream in unusual framing', () => {
  const at = setting();
  const ask = (format: Format, more: object = {}) =>
    at.gateway.ask(format.path, format.request({ stream: true, ...more }));

  for (const format of formats) {
    const { preamble, content, text } = format.stream({ model: 'm-1', reasoning: ['Think'] });

    it(`of ${format.name} is relayed byte for byte and read all the same`, async () => {
      const replies: Reply[] = [];
      for (const [what, reframe] of Object.entries(framings)) {
        const bytes = reframe(text);
        for (const split of ['whole', 'byte'] as const) {
          at.upstream.script([stream(bytes, split)]);
          const reply = await ask(format);
          assert.equal(reply.end, 'complete', what);
          assert.ok(reply.body.equals(Buffer.from(asAsked(format, bytes))), `${what}: ${reply.text}`);
          replies.push(reply);
        }
      }
      for (const row of await rowsOf(at.gateway, replies)) {
        const what =
          Object.keys(framings)[
            Math.floor(replies.findIndex((reply) => reply.header('x-request-id') === row.id) / 2)
          ];
        assert.deepEqual([what, row.outcome, row.estimated], [what, 'ok', false]);
        assert.deepEqual([what, row.usage?.['input'], row.usage?.['output']], [what, 12, 5]);
      }
    });

    it(`of ${format.name} still has its failure before content seen`, async () => {
      for (const [what, reframe] of Object.entries(framings)) {
        at.upstream.script([stream(reframe(preamble + errorFrame[format.name]), 'byte')]);
        const reply = await ask(format);
        assert.deepEqual([what, reply.status], [what, 429]);
        assert.equal(messageOf(reply), 'It broke');
      }
    });

    it(`of ${format.name} still has its failure after content seen`, async () => {
      const replies: Reply[] = [];
      for (const reframe of Object.values(framings)) {
        const bytes = reframe(preamble + content[0] + errorFrame[format.name]);
        at.upstream.script([stream(bytes, 'byte')]);
        const reply = await ask(format);
        assert.equal(reply.text, asAsked(format, bytes));
        replies.push(reply);
      }
      const rows = await rowsOf(at.gateway, replies);
      assert.deepEqual(
        rows.map((row) => row.outcome),
        rows.map(() => 'failed'),
      );
    });

    it(`of ${format.name} without its last line end is complete`, async () => {
      const bytes = text.trimEnd();
      at.upstream.script([stream(bytes, 'byte')]);
      const reply = await ask(format);
      assert.equal(reply.end, 'complete');
      assert.equal(reply.text, asAsked(format, bytes));
      const [row] = await rowsOf(at.gateway, [reply]);
      assert.deepEqual([row?.outcome, row?.usage?.['output']], ['ok', 5]);
    });

    it(`of ${format.name} is the same wherever it is cut in two`, async () => {
      const bytes = Buffer.from(format.stream({ model: 'm-1', text: ['ö🙂'] }).text.replaceAll('\n', '\r\n'));
      at.upstream.respond((request) => {
        const { cut: position } = JSON.parse(request.body.toString()) as { cut: number };
        return [stream(bytes, [position])];
      });
      const positions = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
      const named = asAsked(format, bytes.toString());
      const next = positions.values();
      await Promise.all(
        Array.from({ length: 8 }, async () => {
          for (const position of next) {
            const reply = await ask(format, { cut: position });
            assert.ok(reply.text === named && reply.end === 'complete', `cut at ${position}: ${reply.text}`);
          }
        }),
      );
    });

    it(`of ${format.name} with a record that is no JSON goes on after it`, async () => {
      const bad = [
        'data: {"id": broken\n\n',
        'data: <html>\n\n',
        'data: "text"\n\n',
        'data: null\n\n',
        'data:\n\n',
      ];
      const replies: Reply[] = [];
      for (const record of bad) {
        const places = [
          record + text,
          preamble + record + content.join('') + format.stream({ model: 'm-1', reasoning: ['Think'] }).ending,
        ];
        for (const bytes of [
          ...places,
          preamble +
            content[0] +
            record +
            content.slice(1).join('') +
            format.stream({ model: 'm-1', reasoning: ['Think'] }).ending,
        ]) {
          at.upstream.script([stream(bytes, 'byte')]);
          const reply = await ask(format);
          assert.equal(reply.end, 'complete');
          assert.equal(reply.text, asAsked(format, bytes));
          replies.push(reply);
        }
      }
      for (const row of await rowsOf(at.gateway, replies)) {
        assert.deepEqual([row.outcome, row.estimated, row.usage?.['output']], ['ok', false, 5]);
      }
    });
  }
});

describe('the bytes of a request', () => {
  const at = setting();

  for (const format of formats) {
    it(`of ${format.name} reach the upstream unchanged but for the model, however they are cut`, async () => {
      const inner = JSON.stringify(format.request()).slice(1, -1).replace(`"model":"${format.model}",`, '');
      const bodies = [
        `{"model":"${format.model}",${inner}}`,
        `{ "big": 12345678901234567890.10, "e": 1E+2,\r\n\t"model" : "${format.model}" , ${inner}, "s":"ö🙂\\u00f6\\ud83d \\/" }`,
        `{${inner},"nested":{"model":"other"},"text":"\\"model\\":\\"x\\"","model":"${format.model.replace('/', '\\/')}"}\n`,
        `\n {"mod\\u0065l":"${format.model}",${inner}}`,
      ];
      for (const [index, text] of bodies.entries()) {
        const expected = Buffer.from(
          text
            .replace(`"${format.model}"`, '"m-1"')
            .replace(`"${format.model.replace('/', '\\/')}"`, '"m-1"'),
        );
        for (const pieces of [cut(Buffer.from(text), 'byte'), cut(Buffer.from(text), [3, 5, 20, 31])]) {
          at.upstream.script([json(200, format.answer())]);
          const client = await at.gateway.client();
          await client.send({
            path: format.path,
            headers: {
              'content-type': 'application/json',
              'transfer-encoding': 'chunked',
              ...bearer(at.gateway.key),
            },
          });
          for (const piece of pieces) {
            await client.write(`${piece.length.toString(16)}\r\n`);
            await client.write(piece);
            await client.write('\r\n');
          }
          await client.write('0\r\n\r\n');
          const reply = await client.reply();
          client.destroy();
          assert.equal(reply.status, 200, `${index}: ${reply.text}`);
          const seen = await at.upstream.request();
          assert.equal((await seen.whole).toString(), expected.toString());
        }
      }
    });
  }
});

describe('the end of a stream', () => {
  const at = setting();
  const done = 'data: [DONE]\n\n';
  const chatText = chat.stream().text;
  const cases: { format: Format; what: string; text: string; end: 'complete' | 'cut' }[] = [
    { format: chat, what: 'has two [DONE]', text: chatText + done, end: 'complete' },
    {
      format: chat,
      what: 'has content after [DONE]',
      text: `${chatText}${chat.stream().content[0]}`,
      end: 'complete',
    },
    {
      format: chat,
      what: 'has text after [DONE]',
      text: `${chatText}<!-- served in 3 ms -->\n`,
      end: 'complete',
    },
    { format: chat, what: 'has an error after [DONE]', text: chatText + errorFrame.chat, end: 'complete' },
    {
      format: chat,
      what: 'has comments after [DONE]',
      text: `${chatText}${': bye\n\n'.repeat(300)}`,
      end: 'complete',
    },
    {
      format: chat,
      what: 'has no [DONE] but a finish reason',
      text: chatText.replace(done, ''),
      end: 'complete',
    },
    {
      format: chat,
      what: 'has neither [DONE] nor a finish reason',
      text: chat.stream().preamble + chat.stream().content.join(''),
      end: 'cut',
    },
    {
      format: responses,
      what: 'has [DONE] after its final event',
      text: responses.stream().text + done,
      end: 'complete',
    },
    {
      format: responses,
      what: 'has its final event twice',
      text: responses.stream().text + responses.stream().ending,
      end: 'complete',
    },
    {
      format: responses,
      what: 'has an error after its final event',
      text: responses.stream().text + errorFrame.responses,
      end: 'complete',
    },
    {
      format: responses,
      what: 'has [DONE] but no final event',
      text: responses.stream().preamble + responses.stream().content.join('') + done,
      end: 'cut',
    },
    {
      format: responses,
      what: 'is response.incomplete',
      text: responses.stream().text.replaceAll('response.completed', 'response.incomplete'),
      end: 'complete',
    },
    {
      format: messages,
      what: 'has [DONE] after its final event',
      text: messages.stream().text + done,
      end: 'complete',
    },
    {
      format: messages,
      what: 'has a ping after its final event',
      text: `${messages.stream().text}event: ping\ndata: {"type": "ping"}\n\n`,
      end: 'complete',
    },
    {
      format: messages,
      what: 'has an error after its final event',
      text: messages.stream().text + errorFrame.messages,
      end: 'complete',
    },
    {
      format: messages,
      what: 'has [DONE] but no final event',
      text: messages.stream().preamble + messages.stream().content.join('') + done,
      end: 'cut',
    },
  ];

  for (const { format, what, text, end: expected } of cases) {
    it(`that ${what}, in ${format.name}, is ${expected}, and every byte is passed on`, async () => {
      at.upstream.script([stream(text, 'byte')]);
      const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
      assert.equal(reply.end, expected);
      assert.equal(reply.text.slice(0, text.length), text);
      if (expected === 'complete') assert.equal(reply.text, text);
      const [row] = await rowsOf(at.gateway, [reply]);
      assert.equal(row?.outcome, expected === 'complete' ? 'ok' : 'failed');
      if (expected === 'complete') assert.equal(row?.usage?.['output'], 5);
    });
  }
});

describe('an answer that is not of the kind that was asked for', () => {
  const at = setting();
  const labels = ['application/json', 'text/plain', 'application/octet-stream', 'text/event-stream', null];
  const labelled = (label: string | null): Record<string, string> =>
    label === null ? {} : { 'content-type': label };

  for (const format of formats) {
    const { text, preamble, content } = format.stream();
    const answer = format.answer();
    const unlabelled = (bytes: string | Buffer, label: string | null): Step[] => [
      head(200, { 'transfer-encoding': 'chunked', ...labelled(label) }),
      chunk(bytes, 'byte'),
      end(),
    ];

    for (const label of labels) {
      it(`as a ${format.name} stream labelled ${label} is relayed as a stream`, async () => {
        at.upstream.script(unlabelled(text, label));
        const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
        assert.equal(reply.status, 200, reply.text);
        assert.match(reply.header('content-type') ?? '', /^text\/event-stream/);
        assert.equal(reply.text, text);
      });

      it(`as a whole ${format.name} answer labelled ${label} is relayed as a whole`, async () => {
        const bytes = JSON.stringify(answer);
        at.upstream.script(unlabelled(bytes, label));
        const reply = await at.gateway.ask(format.path, format.request());
        assert.equal(reply.status, 200, reply.text);
        assert.match(reply.header('content-type') ?? '', /^application\/json/);
        assert.equal(reply.text, bytes);
      });

      it(`as a whole ${format.name} answer labelled ${label} where a stream was asked for becomes a stream`, async () => {
        at.upstream.script(unlabelled(JSON.stringify(answer), label));
        const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
        assert.equal(reply.status, 200, reply.text);
        assert.match(reply.header('content-type') ?? '', /^text\/event-stream/);
        assert.ok(reply.text.includes(format.terminal), reply.text);
        assert.ok(reply.text.includes('Hello, wörld 🙂'), reply.text);
        const [row] = await rowsOf(at.gateway, [reply]);
        assert.deepEqual([row?.outcome, row?.usage?.['input'], row?.usage?.['output']], ['ok', 12, 5]);
      });

      it(`as a ${format.name} stream labelled ${label} where a whole was asked for becomes a whole`, async () => {
        at.upstream.script(unlabelled(text, label));
        const reply = await at.gateway.ask(format.path, format.request());
        assert.equal(reply.status, 200, reply.text);
        assert.match(reply.header('content-type') ?? '', /^application\/json/);
        const { content: parts, choices, output } = reply.json() as Record<string, unknown>;
        assert.ok(JSON.stringify(parts ?? choices ?? output).includes('Hello, wörld 🙂'), reply.text);
        const [row] = await rowsOf(at.gateway, [reply]);
        assert.deepEqual([row?.outcome, row?.usage?.['input'], row?.usage?.['output']], ['ok', 12, 5]);
      });
    }

    it(`as a ${format.name} stream that fails where a whole was asked for is an HTTP error`, async () => {
      for (const before of [preamble, preamble + content[0]]) {
        at.upstream.script([stream(before + errorFrame[format.name])]);
        const reply = await at.gateway.ask(format.path, format.request());
        assert.equal(reply.status, 429, reply.text);
        assert.equal(messageOf(reply), 'It broke');
      }
    });

    it(`as a ${format.name} stream that breaks off where a whole was asked for is an HTTP error`, async () => {
      at.upstream.script([stream(preamble + content[0])]);
      const reply = await at.gateway.ask(format.path, format.request());
      assert.equal(reply.status, 502, reply.text);
      assert.match(messageOf(reply), /not complete/);
    });

    it(`as a ${format.name} stream with noise after its end where a whole was asked for is that whole`, async () => {
      for (const noise of [errorFrame[format.name], 'data: [DONE]\n\ndata: {"x":\n\n']) {
        at.upstream.script([stream(text + noise)]);
        const reply = await at.gateway.ask(format.path, format.request());
        assert.equal(reply.status, 200, reply.text);
        assert.ok(reply.text.includes('Hello, wörld 🙂'), reply.text);
      }
    });

    it(`as an error of ${format.name} in HTTP 200 is an HTTP error, whatever was asked for`, async () => {
      for (const more of [{ stream: true }, {}]) {
        at.upstream.script([json(200, format.error('It broke', 'rate_limit_error'))]);
        const reply = await at.gateway.ask(format.path, format.request(more));
        assert.equal(reply.status, 429, reply.text);
        assert.equal(reply.text, JSON.stringify(format.error('It broke', 'rate_limit_error')));
        const [row] = await rowsOf(at.gateway, [reply]);
        assert.equal(row?.outcome, 'failed');
      }
    });
  }
});

describe('a record of 160 MB in one line', () => {
  const at = setting();
  const total = 160 * 1024 * 1024;
  /** What the gateway may grow by. V8 lets about 64 MB of used buffers lie before it collects them. */
  const room = 112 * 1024 * 1024;

  /** Runs `work` and answers with the most that the gateway grew by meanwhile. */
  async function growth(work: () => Promise<void>): Promise<number> {
    const before = await at.gateway.residentBytes();
    let most = before;
    const timer = setInterval(async () => {
      most = Math.max(most, await at.gateway.residentBytes());
    }, 20);
    await work();
    clearInterval(timer);
    return Math.max(most, await at.gateway.residentBytes()) - before;
  }

  for (const format of formats) {
    const { preamble, content, ending } = format.stream({ text: ['MARK'] });
    const [start = '', rest = ''] = (preamble + content.join('') + ending).split(/(?<=MARK)/, 2);
    const after = (preamble + content.join('') + ending).slice(start.length);
    const image = () => [open(), chunk(start), flood(Buffer.alloc(65_536, 'A'), total), chunk(after), end()];

    it(`passes through a ${format.name} stream without being held`, async () => {
      assert.ok(rest.length > 0);
      at.upstream.script([stream(format.stream().text)], image());
      await at.gateway.ask(format.path, format.request({ stream: true }));
      let reply: Reply | undefined;
      const grown = await growth(async () => {
        reply = await at.gateway.ask(format.path, format.request({ stream: true }));
      });
      assert.equal(reply?.status, 200);
      assert.equal(reply?.end, 'complete');
      assert.equal(reply?.body.length, Buffer.byteLength(start) + total + Buffer.byteLength(after));
      assert.ok(grown < room, `the gateway grew by ${grown / 1024 / 1024} MiB`);
      const [row] = await rowsOf(at.gateway, reply ? [reply] : []);
      assert.deepEqual([row?.outcome, row?.usage?.['output']], ['ok', 5]);
    });

    it(`is refused with a clear error where a whole ${format.name} answer was asked for`, async () => {
      at.upstream.script(image());
      let reply: Reply | undefined;
      const grown = await growth(async () => {
        reply = await at.gateway.ask(format.path, format.request());
      });
      assert.equal(reply?.status, 502);
      assert.match(reply === undefined ? '' : messageOf(reply), /larger than 8 MiB/);
      assert.ok(grown < room, `the gateway grew by ${grown / 1024 / 1024} MiB`);
      await (await at.upstream.request()).closed;
    });
  }
});
