import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { fc } from '../../../../test/support/machine/properties.ts';
import { createServer } from '../node-http.ts';
import { createHeadReader, type SimpleHead, simpleHead } from './head.ts';

const runs = Number(process.env['FUZZ_RUNS'] ?? 300);

/** What Node's own server reads of each request, its body included. */
const seen: (Omit<SimpleHead, 'length'> & { body: string; method: string | undefined })[] = [];
const node = createServer({ requireHostHeader: false }, (request, response) => {
  const { headers, method, rawHeaders, url: target = '' } = request;
  let body = '';
  request.on('data', (bytes: Buffer) => {
    body += bytes.toString('latin1');
  });
  request.on('end', () => {
    seen.push({ target, headers, rawHeaders, body, method });
    response.end();
  });
});
before(async () => {
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
});
after(() => node.close());

/** Has Node read bytes and what comes behind them. */
async function readByNode(text: string): Promise<typeof seen> {
  seen.length = 0;
  const socket = connect((node.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  socket.resume();
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return [...seen];
}

const LAST = 'GET /last HTTP/1.1\r\nConnection: close\r\n\r\n';

/** Has both read a head, and a body that looks like another request. @returns whether it was simple */
async function readTheSame(text: string): Promise<boolean> {
  const head = simpleHead(text);
  if (head === null) return false;
  const { length, ...read } = head;
  const body = 'GET /smuggled HTTP/1.1\r\n\r\n'.repeat(length / 20 + 1).slice(0, length);
  const [first, last, more] = await readByNode(`${text}\r\n\r\n${body}${LAST}`);
  assert.deepEqual(first, { ...read, body, method: 'POST' });
  assert.equal(last?.target, '/last');
  assert.equal(more, undefined);
  return true;
}

const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
const visible = fc.integer({ min: 33, max: 126 }).map((code) => String.fromCharCode(code));
const textOf = (unit: fc.Arbitrary<string>, maxLength: number) => fc.string({ unit, maxLength });
const plainNames = [
  ...[
    'Host',
    'content-type',
    'Authorization',
    'User-Agent',
    'Accept',
    'Cookie',
    'X-A',
    'ETag',
    'Age',
    'From',
    'Referer',
  ],
  ...[
    'Expires',
    'Location',
    'Max-Forwards',
    'Retry-After',
    'Date',
    'Vary',
    'Via',
    'X-Forwarded-For',
    'toString',
  ],
  ...[
    'Proxy-Authorization',
    'Keep-Alive',
    'Content_Length',
    'Sec-WebSocket-Key',
    'Content-Encoding',
    "!#$%&'*+-.^_`|~",
  ],
];
const oddNames = [
  ...[
    'Set-Cookie',
    'set-cookie',
    'constructor',
    '__proto__',
    'hasOwnProperty',
    'Content-Length ',
    ' Content-Length',
    '',
  ],
  ...[
    'Connection',
    'Proxy-Connection',
    'Upgrade',
    'TE',
    'Trailer',
    'Expect',
    'Transfer-Encoding',
    'HTTP2-Settings',
  ],
  ...['Content-Length', 'content-length', 'X-A'],
];
const name = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...plainNames) },
  { weight: 1, arbitrary: fc.constantFrom(...oddNames) },
  { weight: 1, arbitrary: textOf(visible, 12) },
  { weight: 1, arbitrary: textOf(byte, 4) },
);
const value = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom('', 'a', '5', 'keep-alive', 'chunked', 'a, b', 'a\tb', '  ', '\t', '"a\\"b"'),
  },
  { weight: 5, arbitrary: textOf(visible, 20) },
  { weight: 1, arbitrary: textOf(byte, 4) },
);
const blanks = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(' ', '', '\t', '  ', ' \t ') },
  { weight: 1, arbitrary: fc.constantFrom('\x0b', '\x0c', '\xa0') },
);
const field = fc
  .tuple(name, blanks, value, blanks)
  .map(([key, before, text, behind]) => `${key}:${before}${text}${behind}`);
const length = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('0', '5', '26', '300', '1000') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '00',
      '05',
      '+5',
      '-5',
      '5.0',
      '0x5',
      '5 5',
      '5,5',
      '5;',
      '99999999999',
      '५',
    ),
  },
);
const target = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '/v1/chat/completions',
      '/v1/x?a=b&c=%20',
      '//a',
      '/',
      '/?',
      '/a?b?c',
      '/;@:~',
    ),
  },
  { weight: 2, arbitrary: textOf(visible, 10).map((text) => `/${text}`) },
  {
    weight: 1,
    arbitrary: fc.oneof(textOf(byte, 6), fc.constantFrom('*', 'a:1', 'http://a/b', '/a b', '/a#b')),
  },
);
const line = fc.oneof(
  { weight: 8, arbitrary: target.map((text) => `POST ${text} HTTP/1.1`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'POST  /a HTTP/1.1',
      'POST /a  HTTP/1.1',
      'POST /a HTTP/1.1 ',
      'POST /a HTTP/1.0',
      ' POST /a HTTP/1.1',
      'POST /a',
      'post /a HTTP/1.1',
      'POST\t/a HTTP/1.1',
    ),
  },
);
const lineEnd = fc.oneof(
  { weight: 60, arbitrary: fc.constant('\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\r', '\r\r\n', '\n\r\n', '\r\n ', '\r\n\t', '') },
);
const head = fc
  .tuple(
    line,
    fc.array(fc.tuple(field, lineEnd), { maxLength: 4 }),
    length,
    fc.array(fc.tuple(field, lineEnd), { maxLength: 2 }),
  )
  .map(([first, before, size, behind]) => {
    const lines = [...before, [`Content-Length: ${size}`, '\r\n'] as const, ...behind];
    return `${first}\r\n${lines.map((parts) => parts.join('')).join('')}`.replace(/\r\n$/, '');
  });

describe('the head of a simple request', () => {
  it("is read as Node's parser reads it, with the same body after it", async () => {
    let simple = 0;
    await fc.assert(
      fc.asyncProperty(head, async (text) => {
        if (await readTheSame(text)) simple += 1;
      }),
      { numRuns: runs },
    );
    assert.ok(simple > runs / 10, `${simple} of ${runs} were simple`);
  });

  it('is what the SDKs of the large vendors send', async () => {
    for (const fields of [
      'Accept: application/json\r\nContent-Type: application/json\r\nUser-Agent: OpenAI/JS 5.1.0\r\nX-Stainless-Lang: js\r\nAuthorization: Bearer sk-1\r\naccept-language: *\r\nsec-fetch-mode: cors\r\naccept-encoding: br, gzip, deflate\r\n',
      'accept-encoding: gzip, deflate\r\nconnection: keep-alive\r\naccept: application/json\r\nx-api-key: a\r\nanthropic-version: 2023-06-01\r\n',
      'User-Agent: curl/8.5.0\r\nAccept: */*\r\n',
    ])
      assert.ok(
        await readTheSame(`POST /v1/messages?beta=true HTTP/1.1\r\nHost: a:1\r\n${fields}Content-Length: 26`),
      );
  });

  it('is rejected if it is ambiguous, or asks for something that the fast path does not serve', async () => {
    const odd = [
      ...[
        'Content-Length: 5',
        'content-length: 6',
        'Content-Length : 5',
        'Transfer-Encoding: chunked',
        'TE: trailers',
      ],
      ...[
        'Expect: 100-continue',
        'Upgrade: websocket',
        'HTTP2-Settings: a',
        'Trailer: a',
        'Proxy-Connection: close',
      ],
      ...[
        'Connection: close',
        'Connection: keep-alive, TE',
        'Connection:',
        'A: b\r\nA: c',
        ' A: b',
        'A : b',
        'A',
        ': b',
      ],
      ...['A: \0', 'A: \x7f', 'A: b\n', 'A: b\r', 'A\xe9: b', '__proto__: a', 'Set-Cookie: a=b'],
    ];
    for (const lines of odd)
      assert.equal(simpleHead(`POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n${lines}`), null, lines);
    assert.equal(simpleHead('POST /a HTTP/1.1\r\nHost: a'), null);
    assert.equal(simpleHead('POST /a HTTP/1.1'), null);
    const many = Array.from({ length: 65 }, (_, index) => `a${index}: b`).join('\r\n');
    assert.equal(simpleHead(`POST /a HTTP/1.1\r\nContent-Length: 5\r\n${many}`), null);
  });
});

describe('a reader of all heads of a connection', () => {
  /** A head, and the same with another length, or with one byte changed. */
  const nextHead = fc.oneof(
    { weight: 2, arbitrary: head.map((text) => () => text) },
    {
      weight: 5,
      arbitrary: length.map(
        (size) => (last: string) => last.replace(/^(Content-Length:[ \t]*)\d*/m, `$1${size}`),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.nat(), byte).map(([at, other]) => (last: string) => {
        const index = at % (last.length + 1);
        return last.slice(0, index) + other + last.slice(index + 1);
      }),
    },
  );

  it('reads each head as if it were the first', () => {
    let simple = 0;
    fc.assert(
      fc.property(head, fc.array(nextHead, { minLength: 1, maxLength: 12 }), (first, changes) => {
        const read = createHeadReader();
        let text = first;
        for (const change of [(last: string) => last, ...changes]) {
          text = change(text);
          const expected = simpleHead(text);
          assert.deepEqual(read(text), expected);
          if (expected !== null) simple += 1;
        }
      }),
      { numRuns: runs },
    );
    assert.ok(simple > runs, `${simple} were simple`);
  });

  it('gives each request its own fields, in the order in which they were sent', () => {
    const read = createHeadReader();
    const text = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n10: 10';
    const [first, second] = [read(text), read(text.replace(': 10\r', ': 5\r'))];
    assert.deepEqual(first?.rawHeaders, ['Host', 'a', 'Content-Length', '10', '10', '10']);
    assert.deepEqual(second?.rawHeaders, ['Host', 'a', 'Content-Length', '5', '10', '10']);
    assert.deepEqual(second?.headers, { host: 'a', 'content-length': '5', 10: '10' });
    assert.equal(first?.headers['content-length'], '10');
    assert.equal(second?.length, 5);
  });
});
