import assert from 'node:assert/strict';
import type { Delivery } from '../../../src/events/channels/channel.ts';
import type { CloudEvent, EventAttributes } from '../../../src/events/cloudevents/event.ts';
import { fc } from '../machine/properties.ts';

/** Events by chance, as rich as CloudEvents allow: any Unicode, every type, every kind of data. */

const forbidden = /[\0-\x1f\x7f-\x9f\ufdd0-\ufdef]/;
const lastTwoOfPlane = (character: string) => ((character.codePointAt(0) ?? 0) & 0xfffe) === 0xfffe;

/** What an attribute may hold. */
export const attributeTextBy = (minLength: number) =>
  fc.string({
    minLength,
    maxLength: 12,
    unit: fc.oneof(
      fc
        .string({ unit: 'binary', minLength: 1, maxLength: 1 })
        .filter((c) => !forbidden.test(c) && !lastTwoOfPlane(c)),
      fc.constantFrom('"', '%', '%41', ' ', '\\', 'é', '€', '😀', ',', ';', '='),
    ),
  });

const uriReference = fc.constantFrom(
  '/a/b?c=%20#d',
  'urn:uuid:6e8bc430',
  '1-555-123',
  '//host/path',
  'https://é.example/',
);
const time = fc.constantFrom(
  '2018-04-05T17:31:00Z',
  '2024-02-29t23:59:60.123456789+14:00',
  '0001-01-01T00:00:00-00:00',
);
const extensionName = fc.string({
  unit: fc.constantFrom(...'abcxyz019'),
  minLength: 1,
  maxLength: 20,
});
const extensionValue = fc.oneof(
  attributeTextBy(0),
  fc.boolean(),
  fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }),
);

const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  // Numbers that JavaScript cannot keep, and white space that a new text would lose.
  fc.constantFrom(
    '0',
    'false',
    'null',
    '""',
    '12345678901234567890',
    '1.0',
    ' {"a" : [1e400]} ',
    '"\\u00e9"',
  ),
);

interface Content {
  datacontenttype?: string;
  data: Buffer | null;
}

const bytes = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((array) => Buffer.from(array));
const content: fc.Arbitrary<Content> = fc.oneof(
  fc.constant({ data: null }),
  fc.record({ datacontenttype: fc.constant('application/json'), data: fc.constant(null) }),
  fc.record({
    datacontenttype: fc.constantFrom(
      'application/json',
      'APPLICATION/JSON; charset="UTF-8"',
      'application/x+json',
    ),
    data: fc.oneof(
      json.map((text) => Buffer.from(text)),
      bytes,
    ),
  }),
  fc.record({
    datacontenttype: fc.constantFrom(
      'text/plain',
      'application/xml; charset=utf-8',
      'text/plain; charset=utf-16',
    ),
    data: fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }).map((text) => Buffer.from(text)),
      bytes,
    ),
  }),
  fc.record({ datacontenttype: fc.constant('image/png'), data: bytes }),
  fc.record({ data: bytes }),
);

const attributes = fc.record(
  {
    id: attributeTextBy(1),
    source: uriReference,
    type: attributeTextBy(1),
    specversion: fc.constant('1.0' as const),
    subject: attributeTextBy(1),
    time,
    dataschema: fc.constantFrom('https://example.com/schema', 'urn:x'),
  },
  { requiredKeys: ['id', 'source', 'type', 'specversion'] },
);

export const cloudEvent: fc.Arbitrary<CloudEvent> = fc
  .tuple(attributes, fc.dictionary(extensionName, extensionValue, { maxKeys: 4 }), content)
  .map(([own, extensions, { data, ...type }]) => {
    const { data: _, ...others } = extensions;
    const all: EventAttributes = { ...others, ...own, ...type };
    return { attributes: all, data };
  });

/** The event as a binding without types knows it: every value as its text. */
export function withTexts({ attributes: values, data }: CloudEvent): CloudEvent {
  const texts = Object.entries(values).map(([name, value]) => [name, String(value)]);
  return { attributes: { ...values, ...Object.fromEntries(texts) }, data };
}

/** For comparing: the same bytes are equal, whatever kind of array holds them. */
export const comparable = ({ attributes: values, data }: CloudEvent) => ({
  attributes: values,
  data: data === null ? null : Buffer.from(data).toString('latin1'),
});

/** The event of a delivery. */
export function eventIn({ content }: Delivery): CloudEvent {
  assert.ok(content.ok);
  return content.event;
}
