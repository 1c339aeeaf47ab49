import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { type FormPiece, FormScanner } from './multipart.ts';
import { contentTypeOf, partOf } from './multipart-head.ts';

const BOUNDARY = 'x-b.1';

interface Field {
  head: string;
  data: Buffer;
}

function form(fields: readonly Field[], tail = '\r\n'): Buffer {
  const parts = fields.flatMap(({ head, data }) => [
    Buffer.from(`--${BOUNDARY}\r\n${head}\r\n\r\n`),
    data,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--${tail}`)]);
}

const field = (name: string, data: string | Buffer): Field => ({
  head: `Content-Disposition: form-data; name="${name}"`,
  data: Buffer.from(data),
});

interface Read {
  bytes: Buffer;
  fields: { name: string; data: Buffer }[];
}

/** Scans `body` in pieces of these sizes, over and over. */
function scan(body: Buffer, sizes: readonly number[] = [body.length]): Read {
  const scanner = new FormScanner(BOUNDARY);
  const pieces: FormPiece[] = [];
  for (let at = 0, turn = 0; at < body.length; turn += 1) {
    const end = at + Math.max(1, sizes[turn % sizes.length] ?? 1);
    pieces.push(...scanner.push(body.subarray(at, end)));
    at = end;
  }
  scanner.end();
  const fields: Read['fields'] = [];
  const all: Buffer[] = [];
  for (const piece of pieces) {
    if (piece.kind === 'part') fields.push({ name: piece.part.name, data: Buffer.alloc(0) });
    else all.push(piece.bytes);
    const last = fields.at(-1);
    if (piece.kind === 'data' && last !== undefined) last.data = Buffer.concat([last.data, piece.bytes]);
  }
  return { bytes: Buffer.concat(all), fields };
}

const invalid = (error: unknown) => error instanceof GatewayError && error.code === 'invalid_request';

describe('a form', () => {
  it('is parsed alike however it is split, and written again byte by byte', () => {
    const pieceOfData = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom('--', '-', '\r', '\r\n-', '\r\n--', `x--${BOUNDARY}`, `---${BOUNDARY}--`, '\r\n--x-b')
        .map(Buffer.from),
    );
    const data = fc
      .array(pieceOfData, { maxLength: 6 })
      .map((pieces) => Buffer.concat(pieces))
      .filter((bytes) => !/(?:^|[\r\n])--x-b\.1/.test(bytes.toString('latin1')));
    const fields = fc.array(fc.tuple(fc.constantFrom('model', 'file', 'a b', 'größe'), data), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(fields, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (parts, sizes) => {
        const body = form(parts.map(([name, data]) => field(name, data)));
        const read = scan(body, sizes);
        assert.deepEqual(read.bytes, body);
        assert.deepEqual(
          read.fields.map(({ name, data }) => [name, data]),
          parts,
        );
      }),
    );
  });

  it('passes data on as it arrives, holding back at most a boundary', () => {
    const scanner = new FormScanner(BOUNDARY);
    scanner.push(Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name=file\r\n\r\n`));
    let dataBytes = 0;
    for (let turn = 0; turn < 100; turn += 1)
      for (const piece of scanner.push(Buffer.alloc(1000, 45)))
        dataBytes += piece.kind === 'data' ? piece.bytes.length : 0;
    assert.ok(dataBytes >= 100_000 - BOUNDARY.length - 3, String(dataBytes));
  });

  it('fails only with an error for its client', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array)),
      fc
        .array(
          fc.constantFrom(
            `--${BOUNDARY}`,
            '\r\n',
            '\n',
            '--',
            'Content-Disposition: form-data; name="model"',
            ': ',
            'x',
            '"',
            '\\',
          ),
        )
        .map((words) => Buffer.from(words.join(''))),
    );
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 9 }), (body, size) => {
        try {
          scan(body, [size]);
        } catch (error) {
          assert.ok(invalid(error), String(error));
        }
      }),
    );
  });

  it('may begin with a line end and end without one', () => {
    const body = Buffer.concat([Buffer.from('\r\n'), form([field('model', 'm')], '')]);
    assert.deepEqual(scan(body, [1]).fields, [{ name: 'model', data: Buffer.from('m') }]);
  });

  const good = form([field('a', '1')]).toString();
  const wrong: Record<string, string> = {
    'has a preamble': `preamble\r\n${good}`,
    'is a huge preamble': 'x'.repeat(1_000_000),
    'goes on after its end': `${good}--${BOUNDARY}\r\n`,
    'is cut': good.slice(0, -8),
    'is empty': '',
    'has a boundary after a bare line feed': good.replace('1\r\n', `1\n--${BOUNDARY}\n\r\n`),
    'has a boundary after a bare return': good.replace('1\r\n', `1\r--${BOUNDARY}\r\n`),
    'has a boundary where data begins': good.replace('1\r\n', `--${BOUNDARY}\r\n`),
    'has a longer boundary inside': good.replace('1\r\n', `1\r\n--${BOUNDARY}2\r\n`),
    'has bare line feeds': good.replaceAll('\r\n', '\n'),
    'has a part without a head': good.replace(/Content[^\r]*\r\n/, ''),
    'has an endless head': good.replace('form-data', `form-data; x="${'y'.repeat(20_000)}"`),
    'has too many parts': form(Array.from({ length: 1_001 }, () => field('a', ''))).toString(),
  };
  for (const [what, body] of Object.entries(wrong)) {
    it(`is refused if it ${what}`, () => {
      assert.throws(() => scan(Buffer.from(body)), invalid);
      assert.throws(() => scan(Buffer.from(body), [3]), invalid);
    });
  }
});

describe('the head of a part', () => {
  const names: Record<string, string> = {
    'Content-Disposition: form-data; name="model"': 'model',
    'content-disposition:form-data;name=model': 'model',
    'CONTENT-DISPOSITION: Form-Data ; NAME="model" ; x=y;': 'model',
    'Content-Disposition: form-data; filename="a;name=b"; name="mo\\"del"': 'mo"del',
    'Content-Type: text/plain\r\nContent-Disposition: form-data; name="größe"': 'größe',
  };
  for (const [head, name] of Object.entries(names)) {
    it(`${JSON.stringify(head)} gives the name ${name}`, () => assert.equal(partOf(head).name, name));
  }

  it('distinguishes a file from an encoded value', () => {
    const head =
      'Content-Disposition: form-data; name="f"; filename="a.wav"\r\nContent-Transfer-Encoding: base64';
    assert.deepEqual(partOf(head), { name: 'f', filename: 'a.wav', encoded: true });
    assert.equal(partOf("Content-Disposition: form-data; name=f; filename*=UTF-8''a").filename, "UTF-8''a");
  });

  const wrong = [
    '',
    'Content-Type: text/plain',
    'Content-Disposition: attachment; name="model"',
    'Content-Disposition: form-data',
    'Content-Disposition: form-data; name="a"; name="model"',
    'Content-Disposition: form-data; name="a"; name*=utf-8\'\'model',
    'Content-Disposition: form-data; name="a\\"; name="model"',
    'Content-Disposition: form-data; name="a"\r\nContent-Disposition: form-data; name="model"',
    'Content-Disposition: form-data;\r\n name="model"',
    'Content-Disposition : form-data; name="model"',
    'Content-Disposition: form-data; name="model"\nX: y',
    'Content-Disposition: form-datax; name="model"',
  ];
  for (const head of wrong) {
    it(`${JSON.stringify(head)} is refused`, () => assert.throws(() => partOf(head), invalid));
  }
});

describe('a content-type', () => {
  it('distinguishes forms, JSON and others', () => {
    assert.deepEqual(contentTypeOf(undefined), { kind: 'json' });
    assert.deepEqual(contentTypeOf('Application/JSON; charset=utf-8'), { kind: 'json' });
    assert.deepEqual(contentTypeOf('text/plain'), { kind: 'other', text: 'text/plain' });
    assert.deepEqual(contentTypeOf('multipart/form-data; boundary=----a1'), {
      kind: 'form',
      boundary: '----a1',
    });
    assert.deepEqual(contentTypeOf('Multipart/Form-Data; charset=utf-8; Boundary="a b:c"'), {
      kind: 'form',
      boundary: 'a b:c',
    });
  });

  it('is refused if it is a form without a usable boundary', () => {
    for (const rest of [
      '',
      '; boundary=',
      '; boundary=a; boundary=b',
      `; boundary=${'x'.repeat(201)}`,
      '; boundary="a "',
    ])
      assert.throws(() => contentTypeOf(`multipart/form-data${rest}`), invalid, rest);
  });
});
