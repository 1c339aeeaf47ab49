import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readOtelVariables } from './otel-variables.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' };

describe('the variables of OpenTelemetry', () => {
  it('disable telemetry without an address, or when switched off', () => {
    assert.equal(readOtelVariables({}), null);
    assert.equal(readOtelVariables({ OTEL_SERVICE_NAME: 'a' }), null);
    assert.equal(readOtelVariables({ ...endpoint, OTEL_SDK_DISABLED: 'true' }), null);
    assert.equal(
      readOtelVariables({ ...endpoint, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' }),
      null,
    );
  });

  it('name one address for both signals, or one each', () => {
    const both = readOtelVariables(endpoint);
    assert.equal(both?.traces?.url, 'http://collector:4318/v1/traces');
    assert.equal(both?.metrics?.url, 'http://collector:4318/v1/metrics');
    const one = readOtelVariables({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://x.example/a' });
    assert.deepEqual([one?.traces?.url, one?.metrics], ['https://x.example/a', null]);
  });

  it('have headers, attributes, a sampler and bounds', () => {
    const settings = readOtelVariables({
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x%3Dy, b=2',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'b=3',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=from-attributes,region=eu',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.5',
      OTEL_BSP_MAX_QUEUE_SIZE: '10',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    });
    assert.deepEqual(settings?.traces?.headers, { authorization: 'Bearer x=y', b: '3' });
    assert.deepEqual(settings?.metrics?.headers, { authorization: 'Bearer x=y', b: '2' });
    assert.equal(settings?.serviceName, 'from-attributes');
    assert.deepEqual(settings?.sampler, { parentBased: false, ratio: 0.5 });
    assert.deepEqual([settings?.batch.maxQueue, settings?.batch.maxBatch], [10, 10]);
    assert.match(settings?.notes.join() ?? '', /JSON/);
    assert.deepEqual(readOtelVariables(endpoint)?.sampler, { parentBased: true, ratio: 1 });
  });

  it('are refused by their name where they are wrong, and no secret is repeated', () => {
    for (const [name, value] of Object.entries({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'CANARY:4318',
      OTEL_EXPORTER_OTLP_HEADERS: 'CANARY',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_TRACES_SAMPLER: 'jaeger_remote',
      OTEL_TRACES_EXPORTER: 'zipkin',
      OTEL_BSP_SCHEDULE_DELAY: '0',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1.5',
    }))
      assert.throws(
        () => readOtelVariables({ ...endpoint, [name]: value }),
        (error: Error) => error.message.startsWith(name) && !error.message.includes('CANARY'),
        name,
      );
  });
});
