import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeAmqp } from './amqp.ts';
import { defaultLimits, eventSize } from './event.ts';
import { decodeHttp } from './http.ts';
import { decodeJsonBatch, decodeJsonEvent, encodeJsonEvent } from './json-format.ts';
import { decodeKafka } from './kafka.ts';
import { contentModeOf, parseMediaType } from './media-type.ts';
import { decodeMqtt } from './mqtt.ts';
import { percentDecode, percentEncode } from './percent.ts';
import type { DecodeResult } from './problem.ts';

const required = { specversion: '1.0', id: '1', source: '/s', type: 't' };
const text = JSON.stringify;

/** `code path` of each problem; empty for an event. */
function complaints(result: DecodeResult<unknown>): string[] {
  return result.ok ? [] : result.problems.map(({ code, path }) => `${code} ${path}`.trim());
}

const jsonComplaints = (json: string) => complaints(decodeJsonEvent(Buffer.from(json), defaultLimits));
const withAttribute = (name: string, value: unknown) => text({ ...required, [name]: value });

describe('the rules of CloudEvents', () => {
  const refusedEvents: readonly [what: string, json: string, ...expected: string[]][] = [
    ['no JSON', '{', 'invalid_json'],
    ['a list', '[]', 'invalid_json'],
    ['text after it', `${text(required)}x`, 'invalid_json'],
    ['data that is no JSON', `{"specversion":"1.0","data":"\\x"}`, 'invalid_json'],
    [
      'nothing in it',
      '{}',
      'missing_attribute specversion',
      'missing_attribute id',
      'missing_attribute source',
      'missing_attribute type',
    ],
    ['null for a required attribute', withAttribute('id', null), 'missing_attribute id'],
    ['an empty id', withAttribute('id', ''), 'invalid_value id'],
    ['an empty type', withAttribute('type', ''), 'invalid_value type'],
    ['an empty source', withAttribute('source', ''), 'invalid_value source'],
    ['an empty subject', withAttribute('subject', ''), 'invalid_value subject'],
    ['a source with a space', withAttribute('source', '/a b'), 'invalid_value source'],
    ['a source with a broken escape', withAttribute('source', '/a%2'), 'invalid_value source'],
    ['a relative data schema', withAttribute('dataschema', '/schema'), 'invalid_value dataschema'],
    ['an empty data schema', withAttribute('dataschema', ''), 'invalid_value dataschema'],
    ['a number as id', withAttribute('id', 5), 'invalid_value id'],
    ['another version', withAttribute('specversion', '0.3'), 'unsupported_version specversion'],
    ['a version of the future', withAttribute('specversion', '9.9'), 'unsupported_version specversion'],
    ['a name in upper case', withAttribute('myExt', 'x'), 'invalid_name myExt'],
    ['a name with a dash', withAttribute('my-ext', 'x'), 'invalid_name my-ext'],
    ['an object as extension', withAttribute('ext', {}), 'invalid_value ext'],
    ['a list as extension', withAttribute('ext', []), 'invalid_value ext'],
    ['a fraction', withAttribute('ext', 1.5), 'invalid_value ext'],
    ['an integer above 32 bits', withAttribute('ext', 2_147_483_648), 'invalid_value ext'],
    ['an integer below 32 bits', withAttribute('ext', -2_147_483_649), 'invalid_value ext'],
    ['an integer written as a fraction', `${text(required).slice(0, -1)},"ext":1.0}`, 'invalid_value ext'],
    ['an integer with an exponent', `${text(required).slice(0, -1)},"ext":1e3}`, 'invalid_value ext'],
    ['a line break', withAttribute('ext', 'a\nb'), 'invalid_value ext'],
    ['a control character of C1', withAttribute('ext', '\u0085'), 'invalid_value ext'],
    ['half of a surrogate pair', withAttribute('ext', '\ud800'), 'invalid_value ext'],
    ['a noncharacter', withAttribute('ext', '\ufdd0'), 'invalid_value ext'],
    ['a noncharacter of another plane', withAttribute('ext', '\u{1ffff}'), 'invalid_value ext'],
    ['an attribute twice', `{"id":"2",${text(required).slice(1)}`, 'duplicate_attribute id'],
    ['data twice', `{"data":1,"data":2}`, 'duplicate_attribute data'],
    ['two kinds of data', text({ ...required, data: 1, data_base64: 'AA==' }), 'invalid_data data'],
    ['broken base64', text({ ...required, data_base64: 'A=' }), 'invalid_data data_base64'],
    ['base64 of URLs', text({ ...required, data_base64: '__8=' }), 'invalid_data data_base64'],
    ['base64 that is no text', text({ ...required, data_base64: 5 }), 'invalid_data data_base64'],
    [
      'an object as text',
      text({ ...required, datacontenttype: 'text/plain', data: {} }),
      'invalid_data data',
    ],
    [
      'text in another encoding',
      text({ ...required, datacontenttype: 'text/plain; charset=utf-16', data: '' }),
      'invalid_data data',
    ],
    [
      'a content type without a subtype',
      withAttribute('datacontenttype', 'json'),
      'invalid_value datacontenttype',
    ],
    [
      'a content type with a bare parameter',
      withAttribute('datacontenttype', 'a/b; c'),
      'invalid_value datacontenttype',
    ],
  ];
  for (const [what, json, ...expected] of refusedEvents)
    it(`refuse ${what}`, () => assert.deepEqual(jsonComplaints(json), expected));

  it('refuse bytes that are no UTF-8', () => {
    assert.deepEqual(complaints(decodeJsonEvent(Buffer.from([0x7b, 0xff, 0x7d]), defaultLimits)), [
      'invalid_json',
    ]);
  });

  const times: readonly [time: string, valid: boolean][] = [
    ['2018-04-05T17:31:00Z', true],
    ['2018-04-05t17:31:00.000000001z', true],
    ['2016-12-31T23:59:60Z', true],
    ['2024-02-29T00:00:00+14:00', true],
    ['2023-02-29T00:00:00Z', false],
    ['1900-02-29T00:00:00Z', false],
    ['2018-13-05T17:31:00Z', false],
    ['2018-04-31T17:31:00Z', false],
    ['2018-04-05T24:00:00Z', false],
    ['2018-04-05T17:60:00Z', false],
    ['2018-04-05T17:31:61Z', false],
    ['2018-04-05T17:31:00', false],
    ['2018-04-05T17:31:00+0200', false],
    ['2018-04-05 17:31:00Z', false],
    ['2018-04-05', false],
    ['', false],
  ];
  for (const [time, valid] of times)
    it(`${valid ? 'take' : 'refuse'} the time "${time}" of RFC 3339`, () =>
      assert.deepEqual(jsonComplaints(withAttribute('time', time)), valid ? [] : ['invalid_value time']));

  it('accept every allowed form', () => {
    const allowed: readonly object[] = [
      { subject: null, time: null, ext: null },
      {
        ext: '',
        flag: false,
        count: 0,
        low: -2_147_483_648,
        high: 2_147_483_647,
        averylongnameofmorethantwenty: 'x',
      },
      { data: null },
      { datacontenttype: 'text/plain', data: null },
      { data_base64: null },
      { constructor: 'x', tostring: 'y' },
    ];
    for (const attributes of allowed)
      assert.deepEqual(jsonComplaints(text({ ...required, ...attributes })), []);
  });

  it('report all problems of all events of a batch, with their positions', () => {
    const batch = `[${text(required)},{"id":"2"},${withAttribute('time', 'now')}]`;
    assert.deepEqual(complaints(decodeJsonBatch(Buffer.from(batch), defaultLimits)), [
      'missing_attribute [1].specversion',
      'missing_attribute [1].source',
      'missing_attribute [1].type',
      'invalid_value [2].time',
    ]);
  });

  it('hold batches and events to their limits', () => {
    const limits = { maxBatchEvents: 2, maxEventBytes: 100 };
    const batch = (count: number) => Buffer.from(`[${Array(count).fill(text(required)).join(',')}]`);
    assert.deepEqual(complaints(decodeJsonBatch(batch(2), limits)), []);
    assert.deepEqual(complaints(decodeJsonBatch(batch(3), limits)), ['too_large']);
    const sized = (bytes: number) => ({
      attributes: { ...required, specversion: '1.0' as const },
      data: Buffer.alloc(bytes),
    });
    const room = 100 - eventSize(sized(0));
    for (const [extra, expected] of [
      [0, []],
      [1, ['too_large']],
    ] as const)
      assert.deepEqual(complaints(decodeJsonEvent(encodeJsonEvent(sized(room + extra)), limits)), expected);
  });

  it('never repeat a value in a message', () => {
    const result = decodeJsonEvent(Buffer.from(withAttribute('time', 'sk-secret')), defaultLimits);
    assert.ok(!JSON.stringify(result).includes('sk-secret'));
  });
});

describe('the examples of the JSON format', () => {
  const rest = { ...required, comexampleothervalue: 5 };
  const examples: readonly [what: string, event: object, type: string | undefined, data: string][] = [
    [
      'JSON',
      { ...rest, datacontenttype: 'application/json', data: { a: 'abc' } },
      'application/json',
      '{"a":"abc"}',
    ],
    ['a number', { ...rest, datacontenttype: 'application/json', data: 1.5 }, 'application/json', '1.5'],
    [
      'a string without a content type',
      { ...rest, data: "I'm just a string" },
      'application/json',
      '"I\'m just a string"',
    ],
    [
      'XML',
      { ...rest, datacontenttype: 'application/xml', data: '<much wow="xml"/>' },
      'application/xml',
      '<much wow="xml"/>',
    ],
    ['bytes', { ...rest, data_base64: 'eyAieHl6IjogMTIzIH0=' }, undefined, '{ "xyz": 123 }'],
  ];
  for (const [what, event, type, data] of examples)
    it(`read ${what}`, () => {
      const read = decodeJsonEvent(Buffer.from(text(event)), defaultLimits);
      assert.ok(read.ok);
      assert.equal(read.value.attributes.datacontenttype, type);
      assert.equal(Buffer.from(read.value.data ?? []).toString(), data);
      assert.equal(read.value.attributes['comexampleothervalue'], 5);
    });
});

describe('percent-encoding of header values', () => {
  it('is that of the example', () => {
    assert.equal(percentEncode('Euro € 😀'), 'Euro%20%E2%82%AC%20%F0%9F%98%80');
  });

  const values: readonly [header: string, value: string | null][] = [
    ['Euro%20%E2%82%AC%20%F0%9F%98%80', 'Euro € 😀'],
    ['%e2%82%ac', '€'],
    ['%41bc', 'Abc'],
    ['%2541', '%41'],
    ['plain text with spaces', 'plain text with spaces'],
    ['"quoted \\"text\\" \\\\"', 'quoted "text" \\'],
    ['"%20"', ' '],
    ['100%', '100%'],
    ['%zz%4', '%zz%4'],
    ['%C0%A0', null],
    ['%ED%A0%80', null],
    ['%FF', null],
    [Buffer.from('é€').toString('latin1'), 'é€'],
    ['\xff', null],
  ];
  for (const [header, value] of values)
    it(`reads ${JSON.stringify(header)}`, () => assert.equal(percentDecode(header, 'latin1'), value));
});

describe('content modes', () => {
  const modes: readonly [contentType: string | null, mode: string][] = [
    [null, 'binary'],
    ['application/json', 'binary'],
    ['Application/CloudEvents+JSON; Charset="UTF-8"', 'structured'],
    ['application/cloudevents', 'structured'],
    ['application/cloudevents-batch+json', 'batched'],
    ['application/cloudevents+avro', 'unknown-format'],
    ['application/cloudevents+json; charset=utf-16', 'unknown-format'],
    ['application/cloudevents-batch+xml', 'unknown-format'],
  ];
  for (const [contentType, mode] of modes)
    it(`are detected from ${contentType}`, () => assert.equal(contentModeOf(contentType), mode));

  it('leave quoted parameters whole', () => {
    assert.deepEqual(parseMediaType('A/B; x="a;b\\""; charset=UTF-8'), { essence: 'a/b', charset: 'utf-8' });
    for (const broken of [
      '',
      'a',
      'a/',
      '/b',
      'a/b; =c',
      'a/b; cc',
      'a/b; c=',
      'a/b; c="d',
      'a/b; c="d"e"',
      'a b/c',
      'a/b; c=é',
    ])
      assert.equal(parseMediaType(broken), null, broken);
  });
});

describe('what is particular to a binding', () => {
  const headers = (more: [string, string][]) => [
    ...Object.entries(required).map(
      ([name, value]) => [`CE-${name.toUpperCase()}`, value] as [string, string],
    ),
    ...more,
  ];

  it('HTTP: names in any case, no ce-datacontenttype, no repeated header, no invalid name', () => {
    assert.deepEqual(complaints(decodeHttp({ headers: headers([]), body: null })), []);
    const broken: [string, string][] = [
      ['ce-datacontenttype', 'a/b'],
      ['ce-id', '2'],
      ['ce-my_ext', 'x'],
      ['ce-data', 'x'],
      ['ce-ext', '%ff'],
      ['x-other', 'ok'],
    ];
    assert.deepEqual(complaints(decodeHttp({ headers: headers(broken), body: null })).sort(), [
      'duplicate_attribute id',
      'invalid_name data',
      'invalid_name datacontenttype',
      'invalid_name my_ext',
      'invalid_value ext',
    ]);
    const unreadable = headers([]).map(([name, value]) => [name, name === 'CE-ID' ? '%ff' : value] as const);
    assert.deepEqual(complaints(decodeHttp({ headers: unreadable, body: null })), ['invalid_value id']);
  });

  it('Kafka: bytes and texts as headers, headers twice, no data as no value', () => {
    const kafka = (more: Record<string, string | Buffer | string[]>) =>
      decodeKafka({
        key: null,
        value: null,
        headers: {
          ...Object.fromEntries(
            Object.entries(required).map(([name, value]) => [`ce_${name}`, Buffer.from(value)]),
          ),
          ...more,
        },
      });
    const read = kafka({ ce_ext: 'text', other: Buffer.from([1]) });
    assert.ok(read.ok);
    assert.equal(read.value.data, null);
    assert.equal(read.value.attributes['ext'], 'text');
    assert.deepEqual(complaints(kafka({ ce_ext: ['a', 'b'] })), ['duplicate_attribute ext']);
    assert.deepEqual(complaints(kafka({ ce_ext: Buffer.from([0xff]) })), ['invalid_value ce_ext']);
    assert.deepEqual(complaints(kafka({ 'content-type': 'application/cloudevents-batch+json' })), [
      'unsupported_format',
    ]);
  });

  it('AMQP: both separators, and the types of others', () => {
    const read = decodeAmqp({
      applicationProperties: {
        'cloudEvents:specversion': '1.0',
        'cloudEvents:id': '1',
        'cloudEvents:source': '/s',
        'cloudEvents:type': 't',
        'cloudEvents:time': new Date('2018-04-05T17:31:00Z'),
        'cloudEvents:count': 5n,
        'cloudEvents:flag': true,
        'cloudEvents:bytes': Buffer.from([0, 1]),
        other: {},
      },
      body: Buffer.alloc(0),
    });
    assert.ok(read.ok);
    assert.deepEqual(read.value.attributes, {
      ...required,
      time: '2018-04-05T17:31:00.000Z',
      count: 5,
      flag: true,
      bytes: 'AAE=',
    });
  });

  it('MQTT: JSON in 3.1.1, the content type in both places, and others’ properties', () => {
    assert.ok(decodeMqtt({ properties: null, payload: Buffer.from(text(required)) }).ok);
    const contentType = 'application/json';
    const userProperties = { ...required, datacontenttype: contentType, 'X-Trace': ['a', 'b'] };
    const read = decodeMqtt({ properties: { contentType, userProperties }, payload: Buffer.from('1') });
    assert.ok(read.ok);
    assert.deepEqual(read.value.attributes, { ...required, datacontenttype: contentType });
    const other = { contentType, userProperties: { ...userProperties, datacontenttype: 'a/b' } };
    assert.deepEqual(complaints(decodeMqtt({ properties: other, payload: Buffer.alloc(0) })), [
      'duplicate_attribute datacontenttype',
    ]);
  });
});
