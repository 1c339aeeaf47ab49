import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { EventSchema } from '../../src/events/gen/io/opensergo/proto/event/v1/event_pb.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { type Call, codeOf, managed, refused } from '../support/management/management.ts';

const yaml = (...triggers: string[]) => `# Written by hand.
components:
  channels: [{unique_id: main, url: "memory:", mq_topic_name: main}]
  sources: [{ref: {unique_id: gw, kind: gateway}}]
  triggers:
${triggers.map((id) => `    - ref: {unique_id: ${id}, kind: log}`).join('\n')}
router_rules:
  routers:
${triggers.map((id) => `    - {source_id: gw, trigger_id: ${id}, channel_id: main}`).join('\n')}
`;

describe('the configuration of events in the management API', () => {
  const at = managed();
  const file = () => join(at.gateway.dataDir, 'events.yaml');
  const admin = (method: string, path: string, call: Call = {}) =>
    at.call(method, `/api/events/config${path}`, { token: at.admin.token, ...call });
  const put = (body: string, headers: Record<string, string> = { 'if-match': '*' }) =>
    admin('PUT', '', { body, headers: { 'content-type': 'application/yaml', ...headers } });
  const version = async () => (await admin('GET', '')).header('etag');

  it('can be read as JSON, as the YAML of the file and as protobuf, and written back', async () => {
    const made = await put(yaml('a', 'b'));
    assert.equal(made.status, 200, made.text);
    assert.equal(readFileSync(file(), 'utf8'), yaml('a', 'b'));
    const asJson = await admin('GET', '');
    assert.equal(asJson.header('etag'), made.header('etag'));
    const components = asJson.json()['components'] as { triggers: { ref: { uniqueId: string } }[] };
    assert.deepEqual(
      components.triggers.map(({ ref }) => ref.uniqueId),
      ['a', 'b'],
    );
    const asYaml = await admin('GET', '', { headers: { accept: 'application/yaml' } });
    assert.equal(asYaml.text, yaml('a', 'b'));
    const asBytes = await admin('GET', '', { headers: { accept: 'application/x-protobuf' } });
    assert.equal(asBytes.header('content-type'), 'application/x-protobuf');
    const message = fromBinary(EventSchema, asBytes.body);
    assert.equal(message.components?.triggers.length, 2);
    message.components?.triggers.pop();
    message.routerRules?.routers.pop();
    const written = await at.gateway.send({
      method: 'PUT',
      path: '/api/events/config',
      headers: {
        host: `127.0.0.1:${at.gateway.port}`,
        'x-auth-token': at.admin.token,
        'content-type': 'application/x-protobuf',
        'if-match': asBytes.header('etag') ?? '',
      },
      body: Buffer.from(toBinary(EventSchema, message)),
    });
    assert.equal(written.status, 200, written.text);
    assert.equal(readFileSync(file(), 'utf8'), yaml('a'), 'what a person wrote is still there');
    const changes = written.json()['changes'] as { triggers: object };
    assert.deepEqual(changes.triggers, { added: [], changed: [], removed: ['b'] });
  });

  it('is not changed without its current version', async () => {
    refused(await put(yaml('a'), {}), 428, 'precondition_required');
    const seen = (await version()) ?? '';
    const [one, other] = await Promise.all([
      put(yaml('one'), { 'if-match': seen }),
      put(yaml('other'), { 'if-match': seen }),
    ]);
    assert.deepEqual([one.status, other.status].sort(), [200, 412]);
    refused(await put(yaml('a'), { 'if-match': seen }), 412, 'precondition_failed');
    const same = await put(yaml('a'), { 'if-match': `"x", ${await version()}` });
    assert.equal(same.status, 200);
  });

  it('is refused as a whole, with the field and the line of everything that is wrong', async () => {
    const before = await version();
    const wrong = yaml('a', 'b')
      .replace('trigger_id: b', 'trigger_id: c')
      .replace('channel_id: main}\n', "channel_id: main, filter: {cesql: 'UPER(type)'}}\n");
    const reply = await put(wrong);
    refused(reply, 400, 'bad_request');
    assert.equal(codeOf(reply), 'invalid_event_config');
    const errors = reply.json()['errors'] as { path: string; line: number }[];
    assert.deepEqual(
      errors.map(({ line, path }) => [line, path]),
      [
        [10, 'router_rules.routers[0].filter.cesql'],
        [11, 'router_rules.routers[1].trigger_id'],
      ],
    );
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it is written in the file
    const unset = yaml('a').replace('kind: log', 'kind: http, name: "http://127.0.0.1/${NO_SUCH_VARIABLE}"');
    assert.match((await put(unset)).text, /NO_SUCH_VARIABLE is not set/);
    assert.equal(await version(), before);
    for (const [type, status] of [
      ['image/png', 415],
      ['application/x-protobuf', 400],
    ] as const)
      refused(await put('\xff', { 'if-match': '*', 'content-type': type }), status);
  });

  it('can be tried without changing anything', async () => {
    await put(yaml('a'));
    const before = await version();
    for (const [path, method] of [
      [':validate', 'POST'],
      ['?dry_run=true', 'PUT'],
    ] as const) {
      const reply = await admin(method, path, { body: yaml('b') });
      assert.equal(reply.status, 200, reply.text);
      const { changes, valid } = reply.json() as { changes: { triggers: object }; valid: boolean };
      assert.deepEqual([valid, changes.triggers], [true, { added: ['b'], changed: [], removed: ['a'] }]);
    }
    const invalid = (await admin('POST', ':validate', { body: 'componets: {}' })).json();
    assert.equal(invalid['valid'], false);
    assert.match(JSON.stringify(invalid['errors']), /Did you mean components/);
    assert.equal(await version(), before);
  });

  it('has a history for rollbacks, with who changed what', async () => {
    await put(yaml('first'));
    const first = Number(JSON.parse((await version()) ?? ''));
    await put(yaml('second'));
    const back = await admin('POST', `/versions/${first}:restore`);
    assert.equal(back.status, 200, back.text);
    assert.equal(readFileSync(file(), 'utf8'), yaml('first'));
    const { resources } = (await admin('GET', '/versions')).json() as {
      resources: { version: number; author: string; via: string; in_force: boolean }[];
    };
    assert.deepEqual(
      resources
        .slice(0, 3)
        .map(({ author, in_force, via, version: number }) => [number, author, via, in_force]),
      [
        [first + 2, 'admin', 'rollback', true],
        [first + 1, 'admin', 'api', false],
        [first, 'admin', 'api', false],
      ],
    );
    const found = (await admin('GET', `/versions/${first + 1}`)).json();
    assert.equal(found['text'], yaml('second'));
    refused(await admin('GET', '/versions/99999'), 404, 'not_found');
    refused(await admin('POST', '/versions/x:restore'), 404, 'not_found');
    const audit = await at.call('GET', '/api/audit?expand=resources&limit=1', { token: at.admin.token });
    assert.match(audit.text, /events\.restore_event_config_version/);
  });

  it('follows the file', async () => {
    const before = await version();
    writeFileSync(file(), yaml('by-hand'));
    await waitFor('the new version', async () => (await version()) !== before);
    assert.match((await admin('GET', '')).text, /by-hand/);
    const again = await version();
    writeFileSync(file(), 'components: [');
    await waitFor('the log', () => /events\.yaml is not valid/.test(JSON.stringify(at.gateway.output())));
    assert.equal(await version(), again);
  });

  it('is shown to operators, changed by admins, and not shown to viewers', async () => {
    const { token } = await at.person('an-operator', 'operator');
    const viewer = await at.person('a-viewer', 'viewer');
    assert.equal((await admin('GET', '', { token })).status, 200);
    refused(await admin('PUT', '', { token, body: yaml('a') }), 403, 'forbidden');
    refused(await admin('GET', '', { token: viewer.token }), 403, 'forbidden');
    refused(await at.call('GET', '/api/events/nothing', { token }), 404, 'not_found');
  });
});
