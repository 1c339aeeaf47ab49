import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { withinCpu } from '../../../test/support/machine/cpu.ts';
import { type CloudEvent, defaultLimits } from '../cloudevents/event.ts';
import { decodeJsonEvent, encodeJsonEvent } from '../cloudevents/json-format.ts';
import { type EventData, type EventName, eventTypes, nameOfType, typeOf } from './catalogue.ts';
import { createEmitter, type Occurrence } from './emitter.ts';
import { instanceName } from './own-event.ts';
import { jsonSchemaOf } from './schema-document.ts';

const november = Date.UTC(2026, 10, 22, 12);
const names = Object.keys(eventTypes) as EventName[];
const key: EventData<'key.created'> = { key_id: 'key_1', name: 'laptop' };
const created: Occurrence<'key.created'> = { subject: 'key_1', data: key };

function setUp({ wants = (_: EventName): boolean => true, send = (_: CloudEvent) => {} } = {}) {
  const sent: CloudEvent[] = [];
  const dropped: number[] = [];
  const emitter = createEmitter({
    instance: 'here',
    wants,
    now: () => november,
    send(event) {
      send(event);
      sent.push(event);
    },
    onDropped: (count) => dropped.push(count),
  });
  return { emitter, sent, dropped };
}

describe('the emitter of own events', () => {
  it('emits events with subject, time and schema', async () => {
    const { emitter, sent } = setUp();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    emitter.emit('key.created', { ...created, partitionKey: 'p', traceparent, extensions: { status: 1 } });
    assert.equal(sent.length, 0, 'not within the work that emits it');
    await turn();
    const { attributes, data } = sent[0] ?? assert.fail('no event');
    const { id, ...rest } = attributes;
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(Number.parseInt(id.replace('-', '').slice(0, 12), 16), november);
    assert.deepEqual(rest, {
      specversion: '1.0',
      source: '/gateway/here/keys',
      type: 'io.modelgate.key.created.v1',
      time: '2026-11-22T12:00:00.000Z',
      datacontenttype: 'application/json',
      dataschema: 'urn:modelgate:schema:io.modelgate.key.created.v1',
      subject: 'key_1',
      partitionkey: 'p',
      traceparent,
      status: 1,
    });
    assert.deepEqual(JSON.parse(Buffer.from(data ?? []).toString()), key);
  });

  it('emits a valid, bounded event for any texts', async () => {
    const { emitter, sent } = setUp();
    const odd = `a\r\n\u0000\ud800${'x'.repeat(100_000)}`;
    emitter.emit('key.created', { subject: odd, traceparent: odd, data: { key_id: odd, name: odd } });
    await turn();
    const event = sent[0] ?? assert.fail('no event');
    const bytes = encodeJsonEvent(event);
    assert.ok(bytes.length < 16_384);
    const decoded = decodeJsonEvent(bytes, defaultLimits);
    assert.ok(decoded.ok, JSON.stringify(decoded));
    assert.equal('traceparent' in event.attributes, false);
  });

  it('costs nothing if nobody receives the event', async () => {
    const { emitter, sent } = setUp({ wants: (name) => name !== 'key.created' });
    emitter.emit('key.created', created);
    emitter.emit('key.rotated', created);
    await turn();
    assert.deepEqual(
      sent.map(({ attributes }) => attributes.type),
      [typeOf('key.rotated')],
    );
  });

  it('never throws, and counts what is dropped', async () => {
    let failing = true;
    const { dropped, emitter, sent } = setUp({
      send() {
        if (failing) throw new Error('no');
      },
    });
    emitter.emit('key.created', created);
    await turn();
    failing = false;
    for (let n = 0; n < 10_005; n += 1) emitter.emit('key.created', created);
    await turn();
    assert.deepEqual([dropped, sent.length], [[1, 5], 10_000]);
  });

  it('takes less than 50 µs of a request', () => {
    const { emitter } = setUp();
    withinCpu(50, '1,000 events', () => {
      for (let n = 0; n < 1_000; n += 1) emitter.emit('key.created', created);
    });
  });
});

describe('the catalogue of own events', () => {
  it('has a valid JSON Schema for each type, by its id', () => {
    const ajv = new Ajv2020({ strict: true });
    addFormats.default(ajv);
    for (const name of names) {
      const schema = jsonSchemaOf(name);
      assert.equal(schema['$id'], `urn:modelgate:schema:${typeOf(name)}`);
      assert.doesNotThrow(() => ajv.compile(schema), name);
    }
  });

  it('finds the name of each type, and of no other', () => {
    for (const name of names) assert.equal(nameOfType(typeOf(name)), name);
    for (const type of ['', 'io.modelgate.key.created.v2', 'key.created', 'io.modelgate.toString.v1'])
      assert.equal(nameOfType(type), null);
  });

  it('uses the machine name in a form that is valid in a source', () => {
    assert.equal(instanceName('Anna’s MacBook'), 'anna-s-macbook');
    assert.equal(instanceName(''), 'gateway');
  });
});
