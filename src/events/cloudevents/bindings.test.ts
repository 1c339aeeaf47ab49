import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloudEvent, comparable, withTexts } from '../../../test/support/events/cloud-event.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { decodeAmqp, decodeAmqp091, encodeAmqp, encodeAmqp091 } from './amqp.ts';
import type { CloudEvent } from './event.ts';
import { decodeHttp, encodeHttp, encodeHttpBatch } from './http.ts';
import { decodeJsonEvent, encodeJsonEvent } from './json-format.ts';
import { decodeKafka, encodeKafka, partitionKey } from './kafka.ts';
import { decodeMqtt, encodeMqtt } from './mqtt.ts';
import { decodeNats, encodeNats } from './nats.ts';
import type { MessageMode } from './payload.ts';
import type { DecodeResult } from './problem.ts';
import { decodeRedis, encodeRedis } from './redis.ts';

interface Binding {
  name: string;
  /** Integers and booleans stay what they are in binary mode. */
  typed: boolean;
  there(event: CloudEvent, mode: MessageMode): DecodeResult<CloudEvent>;
}

const viaHttp = (event: CloudEvent, mode: MessageMode): DecodeResult<CloudEvent> => {
  const { body, headers } = encodeHttp(event, mode);
  // As Node.js gives them: a byte is a character.
  for (const value of Object.values(headers)) assert.match(value, /^[\x20-\x7e]*$/);
  const read = decodeHttp({ headers: Object.entries(headers), body });
  if (!read.ok) return read;
  assert.equal(read.value.mode, mode);
  assert.equal(read.value.events.length, 1);
  return { ok: true, value: read.value.events[0] as CloudEvent };
};

const bindings: readonly Binding[] = [
  { name: 'HTTP', typed: false, there: viaHttp },
  {
    name: 'Kafka',
    typed: false,
    there: (event, mode) => decodeKafka(encodeKafka(event, mode, partitionKey)),
  },
  { name: 'NATS', typed: false, there: (event, mode) => decodeNats(encodeNats(event, mode)) },
  { name: 'AMQP 1.0', typed: true, there: (event, mode) => decodeAmqp(encodeAmqp(event, mode)) },
  { name: 'AMQP 0-9-1', typed: true, there: (event, mode) => decodeAmqp091(encodeAmqp091(event, mode)) },
  { name: 'MQTT', typed: false, there: (event, mode) => decodeMqtt(encodeMqtt(event, mode)) },
  { name: 'Redis', typed: false, there: (event, mode) => decodeRedis(encodeRedis(event, mode)) },
];

/** White space around JSON data is no part of it. */
function asWritten({ attributes, data }: CloudEvent): CloudEvent {
  const text = data === null ? '' : Buffer.from(data).toString();
  const isJson =
    String(attributes.datacontenttype).toLowerCase().includes('json') &&
    encodeJsonEvent({ attributes, data }).includes('"data":');
  return { attributes, data: isJson ? Buffer.from(text.trim()) : data };
}

function unwrap<T>(result: DecodeResult<T>): T {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

describe('CloudEvents over every binding (E19)', () => {
  for (const { name, there, typed } of bindings) {
    it(`come out of a binary message of ${name} as they went in`, () => {
      fc.assert(
        fc.property(cloudEvent, (event) => {
          const expected = typed ? event : withTexts(event);
          assert.deepEqual(comparable(unwrap(there(event, 'binary'))), comparable(expected));
        }),
      );
    });

    it(`come out of a structured message of ${name} as they went in`, () => {
      fc.assert(
        fc.property(cloudEvent, (event) => {
          assert.deepEqual(comparable(unwrap(there(event, 'structured'))), comparable(asWritten(event)));
        }),
      );
    });

    it(`are carried by ${name} with 64 KiB of data`, () => {
      const attributes = { specversion: '1.0', id: '1', source: '/big', type: 't' } as const;
      const event = { attributes, data: Buffer.alloc(65_536, 0xfe) };
      for (const mode of ['binary', 'structured'] as const)
        assert.deepEqual(comparable(unwrap(there(event, mode))), comparable(event));
    });
  }

  it('come out of an HTTP batch as they went in', () => {
    fc.assert(
      fc.property(fc.array(cloudEvent, { maxLength: 4 }), (events) => {
        const { body, headers } = encodeHttpBatch(events);
        const { events: read, mode } = unwrap(decodeHttp({ headers: Object.entries(headers), body }));
        assert.equal(mode, 'batched');
        assert.deepEqual(read.map(comparable), events.map(asWritten).map(comparable));
      }),
    );
  });

  it('pass through every binding in turn unchanged', () => {
    fc.assert(
      fc.property(cloudEvent, fc.shuffledSubarray([...bindings], { minLength: 1 }), (event, ways) => {
        const last = ways.reduce((current, { there }) => unwrap(there(current, 'structured')), event);
        assert.deepEqual(comparable(last), comparable(asWritten(event)));
      }),
    );
  });

  it('are valid JSON in structured mode', () => {
    fc.assert(fc.property(cloudEvent, (event) => void JSON.parse(encodeJsonEvent(event).toString())));
  });

  it('keep their data without a copy', () => {
    const data = Buffer.from('{"a":1}');
    const attributes = {
      specversion: '1.0',
      id: '1',
      source: '/s',
      type: 't',
      datacontenttype: 'application/json',
    } as const;
    const body = encodeJsonEvent({ attributes, data });
    const read = unwrap(decodeJsonEvent(body, { maxEventBytes: 1_000, maxBatchEvents: 1 }));
    assert.equal(read.data?.buffer, body.buffer);
    assert.equal(encodeHttp({ attributes, data }, 'binary').body, data);
    assert.equal(encodeKafka({ attributes, data }, 'binary').value, data);
  });

  it('are never made of invalid input, which never throws', () => {
    const value = fc.oneof(fc.string({ unit: 'binary' }), fc.string());
    const header = fc.tuple(
      fc.oneof(
        fc.constantFrom('ce-id', 'ce-specversion', 'ce-source', 'ce-type', 'content-type'),
        fc.string(),
      ),
      fc.oneof(value, fc.constantFrom('1.0', '%zz', '%ff', 'application/cloudevents+json', 'a/b;')),
    );
    const body = fc.oneof(
      fc.uint8Array(),
      fc.json().map((text) => Buffer.from(text)),
      fc.string().map((text) => Buffer.from(`{"specversion":"1.0","data":${text}}`)),
    );
    fc.assert(
      fc.property(fc.array(header), body, (headers, bytes) => {
        const read = decodeHttp({ headers, body: bytes });
        if (!read.ok) assert.ok(read.problems.length > 0);
        else for (const event of read.value.events) encodeJsonEvent(event);
      }),
    );
  });
});
