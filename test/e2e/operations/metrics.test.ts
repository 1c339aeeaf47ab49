import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import parsePrometheusTextFormat from 'parse-prometheus-text-format';
import { waitFor } from '../../support/gateway/gateway.ts';
import { firstResult, managed, refused } from '../../support/management/management.ts';

const at = managed();
const yaml = `components:
  channels: [{unique_id: main, url: "memory:", mq_topic_name: main}]
  sources: [{ref: {unique_id: gw, kind: gateway}}]
  triggers: [{ref: {unique_id: 'a"b', kind: log}}]
router_rules:
  routers: [{source_id: gw, trigger_id: 'a"b', channel_id: main}]
`;

/** Port 9 (discard): nobody listens there. */
const nobody = 'http://127.0.0.1:9/v1';

describe('GET /metrics', () => {
  const scrape = async (accept = '*/*') => at.call('GET', '/metrics', { headers: { accept } });
  const families = async () => parsePrometheusTextFormat((await scrape()).text);
  /** The value of the one series that has these labels, and perhaps more; undefined for none. */
  const seriesValue = async (name: string, labels: Readonly<Record<string, string>> = {}) => {
    const metrics = (await families()).find((family) => family.name === name)?.metrics ?? [];
    const fits = metrics.filter((metric) =>
      Object.entries(labels).every(([label, value]) => metric.labels?.[label] === value),
    );
    assert.ok(fits.length < 2, `${name} has ${fits.length} series with ${JSON.stringify(labels)}`);
    return fits[0] === undefined ? undefined : Number(fits[0].value);
  };
  /** How many values a histogram has seen, which the parser does not tell by labels. */
  const observed = async (name: string, { provider, model, format, outcome }: Record<string, string>) => {
    const line = `${name}_count{provider="${provider}",model="${model}",format="${format}",outcome="${outcome}"} `;
    const found = (await scrape()).text.split('\n').find((one) => one.startsWith(line));
    return Number(found?.slice(line.length));
  };

  before(async () => {
    const put = await at.call('PUT', '/api/events/config', {
      token: at.admin.token,
      body: yaml,
      headers: { 'if-match': '*' },
    });
    assert.equal(put.status, 200, put.text);
    await at.gateway.connect({ provider: 'openai', name: 'down', baseUrl: nobody });
    await at.gateway.cliJson('combo', 'create', 'spare', '--target', 'down/m', '--target', 'demo/echo');
    await at.gateway.cliJson('budgets', 'set', '--usd', '5', '--per', 'day', '--unpriced', 'allow');
    const messages = [{ role: 'user', content: 'a secret of mine' }];
    for (const model of ['demo/echo', 'spare', 'down/m'])
      await at.gateway.ask('/v1/chat/completions', { model, messages });
    await waitFor('the delivered event', async () =>
      /^modelgate_events_delivered_total\{trigger="a\\"b"\} [1-9]/m.test((await scrape()).text),
    );
  });

  it('is read by a parser of Prometheus’s text format', async () => {
    const reply = await scrape();
    assert.match(reply.header('content-type') ?? '', /^text\/plain; version=0\.0\.4/);
    const types = new Map((await families()).map(({ name, type }) => [name, type]));
    assert.ok(types.size > 40, `only ${types.size} metrics`);
    for (const [name, type] of types) assert.match(type, /^(COUNTER|GAUGE|HISTOGRAM)$/, name);
    assert.doesNotMatch(reply.text, /secret/);
  });

  it('counts requests, tokens and durations by provider, model, format and outcome', async () => {
    const labels = { provider: 'demo', model: 'echo', format: 'openai-chat', outcome: 'ok' };
    assert.equal(await seriesValue('modelgate_requests_total', labels), 2);
    assert.equal(await observed('modelgate_request_duration_seconds', labels), 2);
    assert.equal(await observed('modelgate_time_to_first_byte_seconds', labels), 2);
    assert.ok(Number(await seriesValue('modelgate_tokens_total', { ...labels, bucket: 'output' })) > 0);
    assert.equal(
      await seriesValue('modelgate_http_requests_total', {
        surface: 'models',
        method: 'POST',
        status: '200',
      }),
      2,
    );
  });

  it('counts attempts, fallbacks and errors', async () => {
    const answered = { provider: 'demo', model: 'echo', format: 'openai-chat', outcome: 'answered' };
    assert.equal(await observed('modelgate_upstream_duration_seconds', answered), 2);
    assert.ok(
      Number(
        await seriesValue('modelgate_upstream_attempts_total', { provider: 'openai', outcome: 'failed' }),
      ) > 0,
    );
    const fallback = { from_provider: 'openai', to_provider: 'demo', code: 'upstream_unreachable' };
    assert.equal(await seriesValue('modelgate_fallbacks_total', fallback), 1);
    assert.equal(await seriesValue('modelgate_errors_total', { provider: 'openai', kind: 'server' }), 1);
  });

  it('shows accounts, budgets, backlog and the process', async () => {
    const down = { connection: 'down', provider: 'openai' };
    assert.equal(await seriesValue('modelgate_account_state', { ...down, state: 'cooling' }), 1);
    assert.equal(await seriesValue('modelgate_account_state', { ...down, state: 'ready' }), 0);
    assert.equal(
      await seriesValue('modelgate_budget_limit', { scope: 'global', metric: 'usd', period: 'day' }),
      5,
    );
    assert.equal(await seriesValue('modelgate_budget_spent', { scope: 'global', metric: 'usd' }), 0);
    assert.equal(await seriesValue('modelgate_ready'), 1);
    assert.ok(Number(await seriesValue('process_resident_memory_bytes')) > 10_000_000);
    assert.ok(Number(await seriesValue('process_cpu_seconds_total')) > 0);
    assert.ok(Number(await seriesValue('process_open_fds')) > 5);
    assert.equal(await seriesValue('modelgate_ledger_rows_lost_total'), 0);
    assert.equal(await seriesValue('modelgate_events_config_version'), 1);
  });

  it('is OpenMetrics for those that prefer it', async () => {
    const { header, text } = await scrape(
      'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;q=0.3',
    );
    assert.match(header('content-type') ?? '', /^application\/openmetrics-text; version=1\.0\.0/);
    assert.match(text, /^# TYPE modelgate_requests counter$/m);
    assert.match(text, /^# UNIT modelgate_request_duration_seconds seconds$/m);
    assert.match(text, /\n# EOF\n$/);
  });

  it('needs no login on this machine, and a permission behind a proxy', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9' };
    refused(await at.call('GET', '/metrics', { headers }), 401);
    const made = await at.call('POST', '/api/tokens', {
      token: at.admin.token,
      body: { name: 'prometheus', scopes: ['metrics:read'] },
    });
    const token = String(firstResult(made)['token']);
    assert.equal((await at.call('GET', '/metrics', { headers, token })).status, 200);
    const other = await at.call('POST', '/api/tokens', {
      token: at.admin.token,
      body: { name: 'other', scopes: ['usage:read'] },
    });
    const narrow = String(firstResult(other)['token']);
    refused(await at.call('GET', '/metrics', { headers, token: narrow }), 403, 'forbidden');
    refused(await at.call('GET', '/metrics', { host: 'evil.example' }), 403);
    refused(await at.call('POST', '/metrics'), 405);
  });
});
