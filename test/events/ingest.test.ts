import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { HTTP, CloudEvent as PeerEvent } from 'cloudevents';
import type { Reply } from '../support/clients/client.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { type Call, codeOf, firstResult, managed, refused } from '../support/management/management.ts';

/** Events that come in by `POST /api/events`, at the real program. */

const yaml = `components:
  channels:
    - {unique_id: main, url: "sqlite:", mq_topic_name: main}
    - {unique_id: small, url: "memory:", mq_topic_name: small}
  sources:
    - ref: {unique_id: shop, kind: http, name: "https://shop.example/orders"}
    - ref: {unique_id: slow, kind: service}
    - ref: {unique_id: brief, kind: http}
    - ref: {unique_id: full, kind: http}
    - ref: {unique_id: own, kind: gateway}
  triggers:
    - ref: {unique_id: log, kind: log}
    - ref: {unique_id: nobody, kind: http, name: "http://127.0.0.1:9/nobody"}
strategy:
  source_strategies:
    - event_source_id: slow
      runtime_strategy:
        rate_limit_strategy: {metric_type: TYPE_REQUEST_AMOUNT, limit_mode: MODE_LOCAL, threshold: 3, stat_duration: 1, stat_duration_time_unit: HOUR}
    - event_source_id: brief
      async_send: true
      fault_tolerant_storage: {persistence_type: MEMORY, persistence_size: 2000, full_strategy: DROP}
      runtime_strategy:
        concurrency_limit_strateg: {max_concurrency: 0}
    - event_source_id: full
  trigger_strategies:
    - event_trigger_id: nobody
      runtime_strategy: {retry_rule: {retry_max: 1000, back_off_delay: PT1H}}
router_rules:
  routers:
    - {source_id: shop, trigger_id: log, channel_id: main}
    - {source_id: slow, trigger_id: log, channel_id: main}
    - {source_id: brief, trigger_id: log, channel_id: main}
    - {source_id: full, trigger_id: nobody, channel_id: small}
    - {source_id: own, trigger_id: log, channel_id: main, filter: {cesql: "type = 'io.modelgate.event.dropped.v1'"}}
`;

const context = {
  specversion: '1.0',
  type: 'com.example.someevent',
  time: '2018-04-05T03:56:24Z',
  id: '1234-1234-1234',
  source: 'shop',
} as const;
const hello = { message: 'Hello World!' };
const structured = { 'content-type': 'application/cloudevents+json' };
const batched = { 'content-type': 'application/cloudevents-batch+json; charset=utf-8' };

describe('events that are sent to the gateway', () => {
  const at = managed({
    config: {
      events: {
        fallback_actions: {
          later: {
            status: 503,
            headers: { 'retry-after': '7', 'x-shop': 'closed' },
            body: { hint: 'we are closed' },
          },
          busy: { status: 429, body: 'too busy' },
        },
      },
    },
  });
  let token = '';
  before(async () => {
    writeFileSync(join(at.gateway.dataDir, 'events.yaml'), yaml);
    token = (await at.person('olga', 'operator')).token;
    await waitFor('the configuration', async () => (await send(structured, context)).status === 202);
  });

  const send = (headers: Record<string, string>, body: unknown, query = '', call: Call = {}) =>
    at.call('POST', `/api/events${query}`, { token, headers, body, ...call });
  /** What the log has of an event that a trigger got. */
  const logged = (id: string): Record<string, unknown>[] =>
    at.gateway
      .output()
      .stdout.concat(at.gateway.output().stderr)
      .split('\n')
      .filter((line) => line.startsWith('{') && line.includes(id))
      .map((line) => JSON.parse(line)['event'])
      .filter((event) => event?.id === id);
  const arrived = async (id: string): Promise<Record<string, unknown>> => {
    await waitFor(`the event ${id}`, () => logged(id).length > 0);
    return logged(id)[0] ?? {};
  };
  const accepted = (reply: Reply, ...events: { id: string; source: string; outcome?: string }[]) => {
    assert.equal(reply.status, 202, reply.text);
    assert.deepEqual(reply.json(), {
      accepted: events.length,
      events: events.map((event) => ({ outcome: 'accepted', ...event })),
    });
  };

  const modes: readonly [name: string, headers: Record<string, string>, body: unknown][] = [
    [
      'in binary mode',
      {
        ...Object.fromEntries(Object.entries(context).map(([name, value]) => [`ce-${name}`, value])),
        'content-type': 'application/json',
      },
      hello,
    ],
    [
      'in binary mode, with another charset parameter',
      {
        ...Object.fromEntries(Object.entries(context).map(([name, value]) => [`ce-${name}`, value])),
        'content-type': 'application/json; charset=utf-8',
      },
      hello,
    ],
    ['in structured mode', structured, { ...context, datacontenttype: 'application/json', data: hello }],
    [
      'in structured mode, with a charset',
      { 'content-type': 'application/cloudevents+json; charset=UTF-8' },
      { ...context, datacontenttype: 'application/json', data: hello },
    ],
  ];
  for (const [index, [name, headers, body]] of modes.entries())
    it(`are taken ${name} (E19), and reach a trigger as they were`, async () => {
      const id = `conformance-${index}`;
      const reply =
        'ce-id' in headers
          ? await send({ ...headers, 'ce-id': id }, body)
          : await send(headers, { ...(body as object), id });
      accepted(reply, { id, source: 'shop' });
      const event = await arrived(id);
      const { datacontenttype: _, ...attributes } = event;
      assert.deepEqual(attributes, { ...context, id, eventsourceid: 'shop' });
    });

  it('are taken from the npm package cloudevents', async () => {
    const event = new PeerEvent({ ...context, id: 'peer', datacontenttype: 'application/json', data: hello });
    for (const { body, headers } of [HTTP.binary(event), HTTP.structured(event)]) {
      const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
      accepted(await send(plain, String(body)), { id: 'peer', source: 'shop' });
    }
  });

  it('are taken in batches, in their order, of several sources', async () => {
    const batch = [
      { ...context, id: 'b1' },
      { ...context, id: 'b2', source: 'https://shop.example/orders' },
      { ...context, id: 'b3', source: 'slow' },
    ];
    accepted(
      await send(batched, batch),
      { id: 'b1', source: 'shop' },
      { id: 'b2', source: 'shop' },
      { id: 'b3', source: 'slow' },
    );
    accepted(await send(batched, []));
    for (const id of ['b1', 'b2', 'b3']) await arrived(id);
  });

  it('go to the source that is named, whatever their own source attribute says', async () => {
    accepted(await send(structured, { ...context, id: 'n1', source: '/elsewhere' }, '?source=shop'), {
      id: 'n1',
      source: 'shop',
    });
    assert.equal((await arrived('n1'))['source'], '/elsewhere');
  });

  const invalid: readonly [
    what: string,
    headers: Record<string, string>,
    body: unknown,
    code: string,
    param?: string,
  ][] = [
    ['without an id', structured, { ...context, id: undefined }, 'missing_attribute', 'id'],
    ['with a time that is none', structured, { ...context, time: 'soon' }, 'invalid_value', 'time'],
    ['that is no JSON', structured, '{', 'invalid_json'],
    ['without attributes', { 'content-type': 'application/json' }, hello, 'missing_attribute', 'specversion'],
    ['of a batch', batched, [context, { ...context, type: '' }], 'invalid_value', '[1].type'],
  ];
  for (const [what, headers, body, problem, param] of invalid)
    it(`are refused ${what}, with the problem and the attribute`, async () => {
      const reply = await send(headers, body, '?source=shop');
      refused(reply, 400, 'bad_request');
      assert.equal(codeOf(reply), 'invalid_event');
      const { param: named, problems } = reply.json() as { param?: string; problems: { code: string }[] };
      assert.equal(named, param);
      assert.equal(problems[0]?.code, problem);
    });

  it('are refused whole when one of a batch is wrong', async () => {
    refused(
      await send(batched, [
        { ...context, id: 'whole' },
        { ...context, id: '' },
      ]),
      400,
    );
    refused(
      await send(batched, [
        { ...context, id: 'whole' },
        { ...context, source: '/unknown' },
      ]),
      400,
    );
    assert.deepEqual(logged('whole'), []);
  });

  it('are refused in another format, when they are too large, and for no source', async () => {
    const other = await send({ 'content-type': 'application/cloudevents+avro' }, 'x');
    refused(other, 415);
    assert.equal(codeOf(other), 'unsupported_content_type');
    const large = await send(structured, { ...context, data: 'x'.repeat(1_100_000) });
    refused(large, 413);
    refused(await send(structured, { ...context, source: '/unknown' }), 400);
    refused(await send(structured, context, '?source=none-such'), 404);
    refused(await send(structured, context, '?source=own'), 404);
    refused(await send(structured, context, '?sauce=shop'), 400);
  });

  it('need the permission to send them, of the source that they are for', async () => {
    const viewer = await at.person('vera', 'viewer');
    refused(await send(structured, context, '', { token: viewer.token }), 403);
    refused(await at.call('POST', '/api/events', { headers: structured, body: context }), 401);
    const made = await at.call('POST', '/api/tokens', {
      token: at.admin.token,
      body: { name: 'shop', scopes: ['events:send'], selectors: ['events:id=shop'] },
    });
    assert.equal(made.status, 200, made.text);
    const secret = String(firstResult(made)['token']);
    accepted(await send(structured, context, '', { token: secret }), { id: context.id, source: 'shop' });
    refused(await send(structured, context, '?source=slow', { token: secret }), 403);
    refused(await at.call('GET', '/api/keys', { token: secret }), 403);
    const bearer = { ...structured, authorization: `Bearer ${secret}` };
    const call = { headers: bearer, body: { ...context, id: 'bearer' } };
    accepted(await at.call('POST', '/api/events', call), { id: 'bearer', source: 'shop' });
    const query = { headers: structured, body: { ...context, id: 'query' } };
    accepted(await at.call('POST', `/api/events?access_token=${secret}`, query), {
      id: 'query',
      source: 'shop',
    });
    refused(await at.call('POST', '/api/events?access_token=wrong', query), 401);
    refused(await at.call('GET', `/api/keys?access_token=${secret}`), 401);
    const { stderr, stdout } = at.gateway.output();
    assert.ok(!(stdout + stderr).includes(secret), 'the token is not in the log');
  });

  it('are refused with 429 and Retry-After beyond the rate of their source', async () => {
    const outcomes: number[] = [];
    let last: Reply | null = null;
    for (const id of ['r1', 'r2', 'r3']) {
      last = await send(structured, { ...context, id, source: 'slow' });
      outcomes.push(last.status);
    }
    assert.equal(outcomes.at(-1), 429);
    assert.ok(last !== null);
    refused(last, 429, 'too_many_requests');
    assert.equal(codeOf(last), 'rate_limit_exceeded');
    assert.ok(Number(last.header('retry-after')) > 0);
    assert.deepEqual(last.json()['not_accepted'], [
      { index: 0, id: 'r3', source: 'slow', outcome: 'rate_limited' },
    ]);
  });

  it('are refused with 503 when they are dropped, and the answer says which', async () => {
    const batch = ['d1', 'd2', 'd3'].map((id) => ({
      ...context,
      id,
      source: 'brief',
      data: 'x'.repeat(800),
    }));
    const reply = await send(batched, batch);
    refused(reply, 503, 'service_unavailable');
    assert.equal(codeOf(reply), 'event_not_accepted');
    const { accepted: kept, not_accepted: lost } = reply.json();
    assert.equal(kept, 2);
    assert.deepEqual(lost, [{ index: 2, id: 'd3', source: 'brief', outcome: 'dropped' }]);
    await waitFor('an event that tells of it', () =>
      at.gateway
        .output()
        .stderr.split('\n')
        .some(
          (line) => line.includes('"io.modelgate.event.dropped.v1"') && line.includes('"subject":"brief"'),
        ),
    );
  });

  it('are refused with 503 and Retry-After when their channel is full', async () => {
    const data = 'x'.repeat(1_000_000);
    let reply: Reply | null = null;
    for (let index = 0; index < 20 && (reply === null || reply.status === 202); index += 1)
      reply = await send(structured, { ...context, id: `f${index}`, source: 'full', data });
    assert.ok(reply !== null);
    refused(reply, 503, 'service_unavailable');
    assert.ok(Number(reply.header('retry-after')) > 0);
  });

  it('are allowed by the handshake of webhooks', async () => {
    const headers = { 'webhook-request-origin': 'sender.example', 'webhook-request-rate': '120' };
    const reply = await at.call('OPTIONS', '/api/events', { headers });
    assert.equal(reply.status, 204);
    assert.equal(reply.header('webhook-allowed-origin'), 'sender.example');
    assert.equal(reply.header('webhook-allowed-rate'), '*');
    assert.match(reply.header('allow') ?? '', /POST/);
    const plain = await at.call('OPTIONS', '/api/events');
    assert.equal(plain.header('webhook-allowed-origin'), undefined);
    refused(await at.call('GET', '/api/events', { token }), 400);
  });

  it('are sent by the command, one or a file of them', async () => {
    const sent = await at.gateway.cliJson(
      ...['events', 'send', '--as', 'shop', '--type', 'com.example.cli', '--id', 'cli-1'],
      ...['--data', '{"big": 12345678901234567890}'],
    );
    assert.deepEqual(sent, {
      accepted: 1,
      events: [{ id: 'cli-1', source: 'shop', outcome: 'accepted' }],
    });
    const event = await arrived('cli-1');
    assert.deepEqual([event['source'], event['datacontenttype']], ['shop', 'application/json']);
    const file = join(at.gateway.home, 'events.jsonl');
    const lines = ['cli-2', 'cli-3'].map((id) => JSON.stringify({ ...context, id }));
    writeFileSync(file, lines.join('\n'));
    const { code, stdout } = await at.gateway.cli('events', 'send', file);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /2 of 2 events accepted\./);
    for (const id of ['cli-2', 'cli-3']) await arrived(id);
    const refusals: readonly (readonly [code: number, words: readonly string[], said: RegExp])[] = [
      [2, [], /--type/],
      [2, [file, '--type', 't'], /without a file/],
      [1, ['--type', 't', '--as', 'none-such'], /none-such/],
      [1, [join(at.gateway.home, 'missing')], /Cannot read/],
    ];
    for (const [exit, words, said] of refusals) {
      const ran = await at.gateway.cli('events', 'send', ...words);
      assert.equal(ran.code, exit, ran.stderr);
      assert.match(ran.stderr, said);
    }
  });

  it('are refused with the answer of a fault tolerance rule', async () => {
    const limited = (id: string, threshold: number, rule: string) => `
    - event_source_id: ${id}
      runtime_strategy:
        rate_limit_strategy: {name: few, threshold: ${threshold}, stat_duration: 1, stat_duration_time_unit: HOUR}
        fault_tolerance_rule: {${rule}, strategies: [{name: few, kind: RateLimitStrategy}]}`;
    const withRules = (requests: string) => `components:
  channels: [{unique_id: main, url: "memory:", mq_topic_name: main}]
  sources:
    - ref: {unique_id: shop, kind: http}
    - ref: {unique_id: ruled, kind: http}
  triggers: [{ref: {unique_id: log, kind: log}}]
strategy:
  source_strategies:${limited('ruled', 1, 'action: {name: later, kind: HttpRequestFallbackAction}')}${requests}
router_rules:
  routers:
    - {source_id: shop, trigger_id: log, channel_id: main}
    - {source_id: ruled, trigger_id: log, channel_id: main}
`;
    const admin = { token: at.admin.token, headers: { 'if-match': '*', 'content-type': 'application/yaml' } };
    const put = (body: string) => at.call('PUT', '/api/events/config', { ...admin, body });
    const unknown = await put(withRules('').replace('name: later', 'name: never'));
    assert.equal(codeOf(unknown), 'invalid_event_config', unknown.text);
    assert.match(unknown.text, /fallback_actions/);
    assert.equal((await put(withRules(''))).status, 200);
    assert.equal((await send(structured, { ...context, source: 'ruled' })).status, 202);
    const later = await send(structured, { ...context, source: 'ruled' });
    assert.deepEqual(
      [later.status, later.header('retry-after'), later.header('x-shop')],
      [503, '7', 'closed'],
    );
    assert.deepEqual(later.json(), { hint: 'we are closed' });

    const rule =
      'targets: [{target_resource_name: "POST:/api/events"}], action: {name: busy, kind: HttpRequestFallbackAction}';
    assert.equal((await put(withRules(limited('shop', 2, rule)))).status, 200);
    const batch = [context, { ...context, id: 'b' }, { ...context, id: 'c' }];
    assert.equal(
      (await send(batched, batch)).status,
      202,
      'a request counts once, however many events it has',
    );
    assert.equal((await send(structured, context)).status, 202);
    const busy = await send(structured, context);
    assert.equal(busy.status, 429);
    assert.equal(busy.text, 'too busy');
    assert.match(busy.header('retry-after') ?? '', /^\d+$/);
    const shown = await at.call('GET', '/api/events/status', { token: at.admin.token });
    const { requests } = shown.json() as { requests: { resource: string; limits: object[] } };
    const [limit] = requests.limits.map((one) => ({ ...one, name: '', scope: '' }));
    assert.deepEqual([requests.resource, requests.limits.length], ['POST:/api/events', 1]);
    const counted = { threshold: 2, in_period: 2, remaining: 0, refused: 1, period_ms: 3_600_000 };
    assert.deepEqual(limit, { kind: 'rate-limit', name: '', scope: '', ...counted });
    const { stdout } = await at.gateway.cli('events', 'status');
    assert.match(stdout, /LIMIT OF POST:\/api\/events +ALLOWED +REMAINING +REFUSED\n.* 2 in 3600 s +0 +1/);
    const silent = rule.replace(/, action.*/, '');
    assert.equal((await put(withRules(limited('shop', 2, silent)))).status, 200);
    const plain = await send(structured, context);
    assert.equal(codeOf(plain), 'rate_limit_exceeded', 'the count goes on when only the answer changes');
  });
});
