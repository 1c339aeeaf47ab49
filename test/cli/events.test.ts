import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fromJson, toBinary } from '@bufbuild/protobuf';
import { EventSchema } from '../../src/events/gen/io/opensergo/proto/event/v1/event_pb.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { runHere } from './run.ts';

const valid = `components:
  channels:
    - {unique_id: main, url: "memory:", mq_topic_name: main}
  sources:
    - ref: {unique_id: gw, kind: gateway}
  triggers:
    - ref: {unique_id: audit, kind: log}
router_rules:
  routers:
    - {source_id: gw, trigger_id: audit, channel_id: main, filter: {cesql: "EXISTS subject"}}
`;

describe('gateway events validate', () => {
  it('finds a good file valid, whatever its form', async (t) => {
    const folder = temporaryFolder(t);
    const message = fromJson(EventSchema, {
      components: { channels: [{ uniqueId: 'main', url: 'memory:', mqTopicName: 'main' }] },
    });
    const files: readonly [name: string, content: string | Uint8Array][] = [
      ['events.yaml', valid],
      ['events.json', '{"components": {}}'],
      ['events.binpb', toBinary(EventSchema, message)],
    ];
    for (const [name, content] of files) {
      writeFileSync(join(folder, name), content);
      const ran = await runHere(['events', 'validate', join(folder, name), '--json']);
      assert.deepEqual([ran.code, ran.stderr], [0, ''], ran.stdout);
      const document = JSON.parse(ran.stdout);
      assert.deepEqual([document['valid'], document['errors']], [true, []]);
    }
    const ran = await runHere(['events', 'validate', join(folder, 'events.yaml')]);
    assert.match(ran.stdout, /events\.yaml is valid: 1 channel, 1 source, 1 trigger, 1 router\.\n$/);
  });

  it('prints every problem with its place and its field, and fails', async (t) => {
    const file = join(temporaryFolder(t), 'events.yaml');
    writeFileSync(file, valid.replace('memory:', 'ftp:').replace('EXISTS subject', 'EXISTS'));
    const ran = await runHere(['events', 'validate', file]);
    assert.equal(ran.code, 1);
    assert.ok(ran.stdout.includes(`${file}:3:25: error: components.channels[0].url: `), ran.stdout);
    assert.ok(ran.stdout.includes(`${file}:10:`), ran.stdout);
    assert.match(ran.stdout, /is not valid\.\n$/);
    const json = await runHere(['events', 'validate', file, '--json']);
    assert.equal(json.code, 1);
    const { errors, summary } = JSON.parse(json.stdout);
    assert.equal(summary, null);
    assert.deepEqual(
      (errors as { path: string; line: number }[]).map(({ line, path }) => [path, line]),
      [
        ['components.channels[0].url', 3],
        ['router_rules.routers[0].filter.cesql', 10],
      ],
    );
  });

  it('accepts common mistakes only with a flag', async (t) => {
    const file = join(temporaryFolder(t), 'events.yaml');
    const strategy = `strategy:
  trigger_strategies:
    - event_trigger_id: audit
      runtime_strategy: {retry_rule: {retry_max: 1, back_off_delay: P6S}}
`;
    writeFileSync(file, valid + strategy);
    assert.equal((await runHere(['events', 'validate', file])).code, 1);
    assert.equal((await runHere(['events', 'validate', file, '--lenient'])).code, 0);
  });

  it('says that there is no such file', async () => {
    const ran = await runHere(['events', 'validate', 'none.yaml']);
    assert.equal(ran.code, 2);
    assert.match(ran.stderr, /none\.yaml cannot be read: ENOENT/);
  });
});

describe('gateway events types', () => {
  it('lists the types, and shows the schema of one by name or type', async () => {
    const { types } = JSON.parse((await runHere(['events', 'types', '--json'])).stdout);
    assert.ok(types.some(({ type }: { type: string }) => type === 'io.modelgate.budget.exceeded.v1'));
    for (const name of ['budget.exceeded', 'io.modelgate.budget.exceeded.v1']) {
      const schema = JSON.parse((await runHere(['events', 'types', name])).stdout);
      assert.equal(schema['$id'], 'urn:modelgate:schema:io.modelgate.budget.exceeded.v1');
    }
    const wrong = await runHere(['events', 'types', 'nothing']);
    assert.deepEqual([wrong.code, /gateway events types/.test(wrong.stderr)], [2, true]);
  });
});
