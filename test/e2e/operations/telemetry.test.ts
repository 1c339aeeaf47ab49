import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { waitFor } from '../../support/gateway/gateway.ts';
import { managed } from '../../support/management/management.ts';
import { operationsOf } from '../../support/management/openapi.ts';
import { startHttpReceiver } from '../../support/servers/http-receiver.ts';
import { json } from '../../support/upstream/steps.ts';
import { startUpstream } from '../../support/upstream/upstream.ts';

/** Stands in every prompt, and in what upstreams say of it. */
const prompt = 'CANARY-prompt-4711';
/** Stands in every credential that is none of the gateway's own, and in every query. */
const secret = 'CANARY-secret-0815';

const collector = await startHttpReceiver();
const upstream = await startUpstream();
const at = managed({
  env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `x-otlp-key=${secret}`,
    OTEL_SERVICE_NAME: 'gateway-under-test',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test%2Cci',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    OTEL_METRIC_EXPORT_INTERVAL: '200',
  },
});
after(async () => {
  await Promise.all([collector.close(), upstream.close()]);
});

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: string; doubleValue?: number; boolValue?: boolean };
}

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code?: number };
}

interface Metric {
  name: string;
  unit?: string;
  histogram?: {
    aggregationTemporality: number;
    dataPoints: {
      attributes: Attribute[];
      count: string;
      bucketCounts: string[];
      explicitBounds: number[];
    }[];
  };
  sum?: { isMonotonic: boolean; dataPoints: { attributes: Attribute[]; asDouble: number }[] };
  gauge?: { dataPoints: { attributes: Attribute[]; asDouble: number }[] };
}

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.boolValue ?? value.doubleValue ?? Number(value.intValue),
    ]),
  );

const bodiesTo = (path: string) =>
  collector.received.filter((request) => request.path === path).map(({ body }) => JSON.parse(body));

function spans(): Span[] {
  return bodiesTo('/v1/traces').flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap((resource: { scopeSpans: { spans: Span[] }[] }) =>
      resource.scopeSpans.flatMap((scope) => scope.spans),
    ),
  );
}

function latestMetrics(): Map<string, Metric> {
  const metrics: Metric[] = bodiesTo('/v1/metrics').at(-1)?.resourceMetrics[0].scopeMetrics[0].metrics ?? [];
  return new Map(metrics.map((metric) => [metric.name, metric]));
}

/** The spans of one request, once they were received. */
async function spansOf(requestId: string | undefined): Promise<{ root: Span; attempts: Span[] }> {
  const isRoot = (span: Span) => valuesOf(span.attributes)['modelgate.request.id'] === requestId;
  await waitFor(`the spans of ${requestId}`, () => spans().some(isRoot));
  const root = spans().find(isRoot);
  assert.ok(root !== undefined);
  const attempts = spans().filter(
    ({ parentSpanId, traceId }) => parentSpanId === root.spanId && traceId === root.traceId,
  );
  return { root, attempts };
}

/** The lines of the access log, oldest first. */
function accessLines(): Record<string, unknown>[] {
  const lines = at.gateway
    .output()
    .stderr.split('\n')
    .filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
}

async function accessLine(requestId: string | undefined): Promise<Record<string, unknown>> {
  const find = () => accessLines().find(({ id }) => id === requestId);
  await waitFor(`the line of ${requestId}`, () => find() !== undefined);
  return find() ?? {};
}

const messages = [{ role: 'user', content: prompt }];
const answer = json(200, {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: `${prompt} too` }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 40, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 30 } },
});
const refusal = json(400, { error: { message: `what is ${prompt}?`, type: 'invalid_request_error' } });

/** What asks every few seconds has a line at `debug` only. */
const probes = new Set(['/healthz', '/readyz', '/metrics', '/api/hello']);

describe('telemetry', () => {
  before(async () => {
    await at.gateway.connect({
      provider: 'openai',
      name: 'down',
      baseUrl: 'http://127.0.0.1:9/v1',
      apiKey: secret,
    });
    await at.gateway.connect({
      provider: 'openai',
      name: 'up',
      baseUrl: `${upstream.url}/v1`,
      apiKey: secret,
    });
    await at.gateway.cliJson('combo', 'create', 'spare', '--target', 'down/m', '--target', 'up/m');
  });

  it('traces a request and its attempts by the conventions for generative AI', async () => {
    upstream.always(answer);
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const reply = await at.gateway.ask(
      '/v1/chat/completions',
      { model: 'spare', messages },
      { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'vendor=1' },
    );
    assert.equal(reply.status, 200, reply.text);
    const { attempts, root } = await spansOf(reply.header('x-request-id'));
    assert.deepEqual([root.traceId, root.parentSpanId, root.kind], [traceId, 'b7ad6b7169203331', 2]);
    assert.equal(root.name, 'POST /v1/chat/completions');
    const facts = valuesOf(root.attributes);
    assert.equal(facts['http.response.status_code'], 200);
    assert.equal(facts['modelgate.request.model'], 'spare');
    assert.equal(facts['modelgate.connection'], 'up');

    assert.ok(attempts.length >= 2, `${attempts.length} attempts`);
    for (const { endTimeUnixNano, kind, name, startTimeUnixNano } of attempts) {
      assert.deepEqual([kind, name], [3, 'chat m']);
      assert.ok(BigInt(startTimeUnixNano) >= BigInt(root.startTimeUnixNano));
      assert.ok(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano));
    }
    const [failed] = attempts;
    assert.ok(failed !== undefined);
    assert.equal(failed.status.code, 2);
    assert.equal(valuesOf(failed.attributes)['error.type'], 'upstream_unreachable');
    const last = attempts.at(-1);
    assert.ok(last !== undefined);
    const { 'gen_ai.usage.output_tokens': output, ...shown } = valuesOf(last.attributes);
    assert.deepEqual(shown, {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 40,
      'gen_ai.usage.cache_read.input_tokens': 30,
      'server.address': '127.0.0.1',
      'server.port': upstream.port,
      'http.response.status_code': 200,
      'modelgate.connection': 'up',
      'modelgate.outcome': 'answered',
    });
    assert.equal(output, 2);

    const seen = await upstream.request();
    assert.equal(seen.header('traceparent'), `00-${traceId}-${last.spanId}-01`);
    assert.equal(seen.header('tracestate'), 'vendor=1');
    const [sent] = collector.received.filter(({ path }) => path === '/v1/traces');
    assert.equal(sent?.headers['x-otlp-key'], secret);
    const resource = valuesOf(JSON.parse(sent?.body ?? '').resourceSpans[0].resource.attributes);
    assert.equal(resource['service.name'], 'gateway-under-test');
    assert.equal(resource['deployment.environment.name'], 'test,ci');
  });

  it('begins a trace where the client has none, and leaves out what the client does not sample', async () => {
    upstream.always(answer);
    const body = { model: 'up/m', messages };
    const unsampled = '00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
    await at.gateway.ask('/v1/chat/completions', body, { traceparent: unsampled });
    const fresh = await at.gateway.ask('/v1/chat/completions', body, {
      traceparent: 'nonsense',
      tracestate: 'a=1',
    });
    const { root } = await spansOf(fresh.header('x-request-id'));
    assert.equal(root.parentSpanId, undefined);
    assert.match(root.traceId, /^[0-9a-f]{32}$/);
    assert.match(
      (await upstream.request(0)).header('traceparent') ?? '',
      /^00-1af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/,
    );
    const second = await upstream.request(1);
    assert.match(second.header('traceparent') ?? '', new RegExp(`^00-${root.traceId}-[0-9a-f]{16}-01$`));
    assert.equal(second.header('tracestate'), undefined);
    assert.ok(!spans().some(({ traceId }) => traceId.startsWith('1af7651916cd43dd')));
  });

  it('sends metrics, those of the conventions among them', async () => {
    await waitFor('the metrics', () => latestMetrics().has('gen_ai.client.token.usage'));
    const metrics = latestMetrics();
    const usage = metrics.get('gen_ai.client.token.usage');
    assert.equal(usage?.unit, '{token}');
    assert.equal(usage?.histogram?.aggregationTemporality, 2);
    const [point] = usage?.histogram?.dataPoints ?? [];
    assert.ok(point !== undefined);
    assert.equal(point.bucketCounts.length, point.explicitBounds.length + 1);
    assert.deepEqual(point.explicitBounds.slice(0, 4), [1, 4, 16, 64]);
    const labels = [
      'gen_ai.operation.name',
      'gen_ai.provider.name',
      'gen_ai.request.model',
      'gen_ai.token.type',
    ];
    assert.deepEqual(Object.keys(valuesOf(point.attributes)).sort(), labels);
    for (const name of ['gen_ai.client.operation.duration', 'gen_ai.server.request.duration'])
      assert.equal(metrics.get(name)?.unit, 's', name);
    assert.equal(metrics.get('modelgate.requests')?.sum?.isMonotonic, true);
    assert.ok(metrics.get('process.resident_memory')?.gauge !== undefined);
    assert.ok(metrics.get('modelgate.events_config_version')?.gauge !== undefined);
  });

  it('writes one line for each request', async () => {
    upstream.always(answer);
    const reply = await at.gateway.ask('/v1/chat/completions?x=1', { model: 'up/m', messages });
    const { bytes_in, bytes_out, duration_ms, key_id, time, ttft_ms, ...line } = await accessLine(
      reply.header('x-request-id'),
    );
    assert.deepEqual(line, {
      level: 'info',
      id: reply.header('x-request-id'),
      method: 'POST',
      path: '/v1/chat/completions',
      status: 200,
      key: 'test',
      format: 'openai-chat',
      requested_model: 'up/m',
      provider: 'openai',
      connection: 'up',
      model: 'm',
      outcome: 'ok',
      attempts: 1,
      input_tokens: 40,
      output_tokens: 2,
      msg: 'request',
    });
    assert.ok(Number(bytes_in) > 20 && Number(bytes_out) > reply.text.length);
    assert.ok(Number(duration_ms) >= 0 && Number(ttft_ms) >= 0);
    assert.match(`${key_id} ${time}`, /^key_\w+ \d{4}-/);
    const listed = await at.gateway.send({
      method: 'GET',
      path: '/v1/models',
      headers: { authorization: `Bearer ${at.gateway.key}` },
    });
    const { key, status } = await accessLine(listed.header('x-request-id'));
    assert.deepEqual([status, key], [200, 'test']);
  });

  it('contains no prompts, answers or secrets', async () => {
    upstream.respond(({ path }) => (path.includes('embeddings') ? [answer] : [refusal]));
    const replies: { path: string; reply: Reply }[] = [];
    const note = (path: string, reply: Reply) => replies.push({ path, reply });
    for (const [path, body] of Object.entries({
      '/v1/chat/completions': { messages },
      '/v1/responses': { input: prompt },
      '/v1/completions': { prompt },
      '/v1/messages': { max_tokens: 9, messages },
      '/v1/messages/count_tokens': { messages },
      '/v1/embeddings': { input: prompt },
      '/v1/images/generations': { prompt },
      '/v1/audio/speech': { input: prompt, voice: 'alloy' },
      '/v1/moderations': { input: prompt },
      '/v1/rerank': { query: prompt, documents: [prompt] },
      '/api/chat': { messages },
      '/v1beta/models/up%2Fm:generateContent': { contents: [{ parts: [{ text: prompt }] }] },
      '/v1beta/models/up%2Fm:streamGenerateContent': { contents: [{ parts: [{ text: prompt }] }] },
    })) {
      const whole = { model: 'up/m', ...body };
      note(
        path,
        await at.gateway.ask(`${path}?key=${secret}`, whole, { cookie: secret, 'x-api-key': `sk-${secret}` }),
      );
      // Once more with a key that is none.
      const headers = { authorization: `Bearer sk-${secret}`, 'content-type': 'application/json' };
      note(
        path,
        await at.gateway.send({
          method: 'POST',
          path: `${path}?key=${secret}`,
          headers,
          body: JSON.stringify(whole),
        }),
      );
    }
    note(
      '/api/v1/editor',
      await at.gateway.ask(`/api/v1/editor/sk-${secret}/v1/chat/completions`, { model: 'up/m', messages }),
    );
    for (const { method, path, streams } of await operationsOf(at)) {
      if (streams) continue;
      const target = `${path.replace('{id}', 'no-such-member')}?token=${secret}`;
      const body =
        method === 'GET' ? {} : { body: { action: 'none', name: prompt, password: secret, api_key: secret } };
      note(path, await at.call(method, target, { token: secret, ...body }));
      note(path, await at.call(method, target, { basic: ['admin', secret], ...body }));
      if (method === 'GET') note(path, await at.call(method, target, { token: at.ownerKey() }));
    }
    for (const path of ['/mcp', '/a2a', '/metrics', '/healthz', '/nothing'])
      note(
        path,
        await at.call('POST', `${path}?token=${secret}`, { token: secret, body: { prompt, secret } }),
      );
    assert.ok(replies.length > 100, `${replies.length} requests`);

    upstream.always(answer);
    const last = await at.gateway.ask('/v1/chat/completions', { model: 'up/m', messages });
    await spansOf(last.header('x-request-id'));
    await accessLine(last.header('x-request-id'));
    const before = bodiesTo('/v1/metrics').length;
    await waitFor('two more exports of metrics', () => bodiesTo('/v1/metrics').length > before + 1);

    const told = {
      'the log': at.gateway.output().stderr,
      'the output': at.gateway.output().stdout,
      'the metrics': (await at.call('GET', '/metrics')).text,
      'the telemetry': collector.received.map(({ body }) => body).join('\n'),
    };
    for (const [where, text] of Object.entries(told))
      for (const canary of [prompt, secret, at.gateway.key, at.ownerKey(), at.admin.token, at.admin.password])
        assert.ok(
          !text.includes(canary),
          `${where} has ${canary}: ${text.slice(Math.max(0, text.indexOf(canary) - 300)).slice(0, 400)}`,
        );
    const logged = new Set(accessLines().map(({ id }) => id));
    const unlogged = replies.filter(
      ({ path, reply }) => !probes.has(path) && !logged.has(reply.header('x-request-id')),
    );
    assert.deepEqual(
      unlogged.map(({ path }) => path),
      [],
    );
  });
});
