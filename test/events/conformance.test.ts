import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { HTTP, Kafka, MQTT, CloudEvent as PeerEvent } from 'cloudevents';
import type { CloudEvent } from '../../src/events/cloudevents/event.ts';
import { decodeHttp, encodeHttp, type HttpEvents } from '../../src/events/cloudevents/http.ts';
import { decodeKafka, encodeKafka } from '../../src/events/cloudevents/kafka.ts';
import { decodeMqtt, encodeMqtt } from '../../src/events/cloudevents/mqtt.ts';
import type { DecodeResult } from '../../src/events/cloudevents/problem.ts';

/**
 * The examples of the conformance project of CloudEvents (seven of HTTP and Kafka, six small events), and what the npm package
 * `cloudevents` writes and reads. Everything of HTTP passes through Node.js's own parser.
 */

const context = {
  specversion: '1.0',
  type: 'com.example.someevent',
  time: '2018-04-05T03:56:24Z',
  id: '1234-1234-1234',
  source: '/mycontext/subcontext',
} as const;
const hello = { message: 'Hello World!' };
const structuredBody = JSON.stringify({ ...context, datacontenttype: 'application/json', data: hello });

let received: DecodeResult<HttpEvents> | null = null;
const server = createServer((incoming, response) => {
  const chunks: Buffer[] = [];
  incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
  incoming.on('end', () => {
    const { rawHeaders } = incoming;
    const headers = rawHeaders.flatMap((name, at) =>
      at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? ''] as const] : [],
    );
    received = decodeHttp({ headers, body: Buffer.concat(chunks) });
    response.end();
  });
});

async function post(
  headers: Readonly<Record<string, string>>,
  body: Uint8Array | string | null,
): Promise<CloudEvent> {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', method: 'POST', headers });
  const answered = once(sent, 'response');
  sent.end(body ?? undefined);
  const [response] = await answered;
  response.resume();
  await once(response, 'end');
  assert.ok(received?.ok, JSON.stringify(received));
  const [event] = received.value.events;
  assert.ok(event !== undefined);
  return event;
}

function assertHello(event: CloudEvent, datacontenttype: string): void {
  assert.deepEqual(event.attributes, { ...context, datacontenttype });
  assert.deepEqual(JSON.parse(Buffer.from(event.data ?? []).toString()), hello);
}

function unwrap<T>(result: DecodeResult<T>): T {
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
}

describe('conformance with CloudEvents (E19)', () => {
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => server.close());

  for (const contentType of ['application/json', 'application/json; charset=utf-8'])
    it(`HTTP, binary content mode (${contentType})`, async () => {
      const { specversion, type, time, id, source } = context;
      const headers = {
        'ce-specversion': specversion,
        'ce-type': type,
        'ce-time': time,
        'ce-id': id,
        'ce-source': source,
        'Content-Type': contentType,
      };
      assertHello(await post(headers, JSON.stringify(hello)), contentType);
    });

  for (const contentType of ['application/cloudevents+json', 'application/cloudevents+json; charset=utf-8']) {
    it(`HTTP, structured content mode (${contentType})`, async () => {
      assertHello(await post({ 'Content-Type': contentType }, structuredBody), 'application/json');
    });

    it(`Kafka, structured content mode (${contentType})`, () => {
      const headers = { 'content-type': Buffer.from(contentType) };
      const record = { key: null, value: Buffer.from(structuredBody), headers };
      assertHello(unwrap(decodeKafka(record)), 'application/json');
    });
  }

  it('Kafka, binary content mode', () => {
    const attributes = Object.entries(context).map(([name, value]) => [`ce_${name}`, Buffer.from(value)]);
    const headers = { ...Object.fromEntries(attributes), 'content-type': Buffer.from('application/json') };
    const record = { key: null, value: Buffer.from(JSON.stringify(hello)), headers };
    assertHello(unwrap(decodeKafka(record)), 'application/json');
  });

  const small: readonly [datacontenttype: string, data: string][] = [
    ['text/plain; charset=us-ascii', 'Hello, World!\n'],
    ['text/plain; charset=utf-8', 'Hello, 🌎!\n'],
    ['application/json; charset=utf-8', '"Hello, 🌎!"'],
    ['application/json; charset=utf-8', '{"msg":"Hello, 🌎!"}'],
    ['application/json; charset=utf-8', '["Hello","🌎!"]'],
    ['application/xml; charset=utf-8', '<msg>Hello, 🌎!</msg>\n'],
  ];
  for (const [index, [datacontenttype, data]] of small.entries())
    for (const mode of ['binary', 'structured'] as const)
      it(`small event ${index + 1} over HTTP, ${mode}`, async () => {
        const attributes = {
          specversion: '1.0',
          type: 'io.cloudevents.minimum',
          id: `conformance-000${index + 1}`,
          source: '//github.com/cloudevents/cloudeventsconformance/yaml/v1.yaml',
          datacontenttype,
        } as const;
        const { headers, body } = encodeHttp({ attributes, data: Buffer.from(data) }, mode);
        const event = await post(headers, body);
        assert.deepEqual(event.attributes, attributes);
        assert.equal(Buffer.from(event.data ?? []).toString(), data);
      });
});

describe('the npm package cloudevents', () => {
  // Within what it keeps: ASCII, a time of whole milliseconds in UTC, an object as data.
  const attributes = {
    ...context,
    time: '2018-04-05T03:56:24.000Z',
    datacontenttype: 'application/json',
  } as const;
  const event: CloudEvent = {
    attributes: { ...attributes, subject: 's', ext: 'value' },
    data: Buffer.from(JSON.stringify(hello)),
  };
  const peer = new PeerEvent({ ...attributes, subject: 's', ext: 'value', data: hello });
  const same = (read: CloudEvent) => {
    const { datacontenttype, ...others } = read.attributes;
    const { datacontenttype: _, ...expected } = event.attributes;
    assert.match(String(datacontenttype), /^application\/json\b/);
    assert.deepEqual(others, expected);
    assert.deepEqual(JSON.parse(Buffer.from(read.data ?? []).toString()), hello);
  };
  const samePeer = (read: unknown) => {
    assert.ok(read instanceof PeerEvent);
    const { data, ...others } = JSON.parse(JSON.stringify(read));
    const { data: _, ...expected } = JSON.parse(JSON.stringify(peer));
    assert.deepEqual(others, expected);
    // Over MQTT it leaves JSON a text.
    assert.deepEqual(typeof data === 'string' ? JSON.parse(data) : data, hello);
  };
  const texts = (headers: object) =>
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)] as const],
    );

  for (const mode of ['binary', 'structured'] as const) {
    it(`understands our HTTP messages and we its, ${mode}`, () => {
      const { headers, body } = encodeHttp(event, mode);
      // It compares content types as whole texts.
      const type = headers['content-type']?.replace('; charset=utf-8', '') ?? '';
      samePeer(HTTP.toEvent({ headers: { ...headers, 'content-type': type }, body: body?.toString() }));
      const message = HTTP[mode](peer);
      const { events } = unwrap(
        decodeHttp({ headers: texts(message.headers), body: Buffer.from(String(message.body)) }),
      );
      same(events[0] as CloudEvent);
    });

    it(`understands our Kafka records and we its, ${mode}`, () => {
      const { headers, key, value } = encodeKafka(event, mode);
      const asTexts = Object.fromEntries(texts(headers));
      samePeer(
        Kafka.toEvent({
          headers: asTexts,
          body: undefined,
          key: key ?? undefined,
          value: value?.toString(),
        } as never),
      );
      const message = Kafka[mode](peer);
      const own = {
        key: null,
        value: asBytes(message.value),
        headers: Object.fromEntries(texts(message.headers)),
      };
      same(unwrap(decodeKafka(own)));
    });

    it(`understands our MQTT messages and we its, ${mode}`, () => {
      const { payload, properties } = encodeMqtt(event, mode);
      const { contentType = '', userProperties } = properties;
      const body = Buffer.from(payload).toString();
      samePeer(
        MQTT.toEvent({
          headers: { ...userProperties, datacontenttype: contentType },
          body,
          payload: body,
          PUBLISH: { 'Content Type': contentType.replace('; charset=utf-8', '') },
          'User Properties': userProperties,
        } as never),
      );
      const message = MQTT[mode](peer);
      const user = Object.fromEntries(texts(message['User Properties'] ?? {}));
      const type = String(message.PUBLISH?.['Content Type']);
      const read = decodeMqtt({
        properties: { contentType: type, userProperties: user },
        payload: asBytes(message.payload),
      });
      same(unwrap(read));
    });
  }

  function asBytes(value: unknown): Buffer {
    return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  }
});
