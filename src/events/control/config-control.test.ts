import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { toBinary } from '@bufbuild/protobuf';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { createLog } from '../../lib/log.ts';
import { openStore, type Store } from '../../store/database.ts';
import type { EventConfig } from '../config/config.ts';
import { EventSchema } from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import { openConfigControl } from './config-control.ts';
import { configFile } from './config-file.ts';
import { configVersions } from './config-versions.ts';

const yaml = (...triggers: string[]) => `# kept
components:
  channels: [{unique_id: main, url: "memory:", mq_topic_name: main}]
  sources: [ref: {unique_id: gw, kind: gateway}]
  triggers:
${triggers.map((id) => `    - ref: {unique_id: ${id}, kind: log}`).join('\n')}
router_rules:
  routers:
${triggers.map((id) => `    - {source_id: gw, trigger_id: ${id}, channel_id: main}`).join('\n')}
`;
const log = createLog({ level: 'silent', write: () => {}, pretty: false });
const anna = { author: 'anna', expected: null };

async function setUp(test: TestContext) {
  const folder = temporaryFolder(test);
  const store: Store = await openStore(folder);
  test.after(() => store.close());
  const path = join(folder, 'events.yaml');
  const running: string[][] = [];
  let refusal: Error | null = null;
  const open = () =>
    openConfigControl({
      file: configFile(folder),
      versions: configVersions(store),
      engine: {
        async apply({ triggers }: EventConfig) {
          if (refusal !== null) throw refusal;
          running.push([...triggers.keys()]);
        },
      },
      log,
      now: () => 1_000,
      builtIn: yaml('own'),
      alsoCheck: () => {},
      extend: (config) => config,
    });
  return {
    folder,
    path,
    open,
    running: () => running.at(-1),
    runs: () => running.length,
    write: (text: string) => writeFileSync(path, text),
    read: () => readFileSync(path, 'utf8'),
    refuse(error: Error | null) {
      refusal = error;
    },
  };
}
const text = (value: string) => ({ format: 'text', text: value }) as const;

describe('the configuration of events', () => {
  it('is the built-in one as long as there is no file', async (test) => {
    const { open, path, running } = await setUp(test);
    const control = await open();
    assert.deepEqual(running(), ['own']);
    assert.equal(control.inForce().version.number, 0);
    assert.deepEqual(await control.versions.list(), []);
    assert.ok(!existsSync(path));
  });

  it('is the file, whose version stays when nothing changes', async (test) => {
    const { open, running, write } = await setUp(test);
    write(yaml('a'));
    for (let start = 0; start < 3; start += 1) assert.equal((await open()).inForce().version.number, 1);
    assert.deepEqual(running(), ['a']);
    write(yaml('b'));
    const control = await open();
    const { at, author, number, via } = control.inForce().version;
    assert.deepEqual(
      { at, author, number, via },
      { at: 1_000, author: 'events.yaml', number: 2, via: 'file' },
    );
  });

  it('follows the file, and goes back to the built-in one without it', async (test) => {
    const { open, path, running, runs, write } = await setUp(test);
    const control = await open();
    let changes = 0;
    control.onChange(() => {
      changes += 1;
    });
    write(yaml('a'));
    await control.lookAtFile();
    assert.deepEqual([running(), control.inForce().version.number], [['a'], 1]);
    await control.lookAtFile();
    assert.equal(runs(), 2);
    rmSync(path);
    await control.lookAtFile();
    assert.deepEqual([running(), control.inForce().version.number], [['own'], 0]);
    assert.equal(changes, 2);
  });

  it('stays when the file becomes wrong, and says what is wrong with it', async (test) => {
    const { open, refuse, running, write } = await setUp(test);
    write(yaml('a'));
    const control = await open();
    write(yaml('b').replace('kind: log', 'kind: lag'));
    await control.lookAtFile();
    assert.deepEqual(running(), ['a']);
    assert.equal(control.rejected()?.problems[0]?.path, 'components.triggers[0].ref.kind');
    assert.equal(control.rejected()?.problems[0]?.line, 6);
    refuse(new Error('no such variable'));
    write(yaml('c'));
    await control.lookAtFile();
    assert.equal(control.rejected()?.problems[0]?.message, 'no such variable');
    assert.equal(control.inForce().version.number, 1);
    refuse(null);
    write(yaml('a'));
    await control.lookAtFile();
    assert.equal(control.rejected(), null);
    assert.deepEqual(
      (await control.versions.list()).map(({ number }) => number),
      [1],
    );
  });

  it('is the last valid one after a start with a wrong file', async (test) => {
    const { open, running, write } = await setUp(test);
    write(yaml('a'));
    await open();
    write('components: [');
    const control = await open();
    assert.deepEqual([running(), control.inForce().version.number], [['a'], 1]);
    assert.notEqual(control.rejected(), null);
  });

  it('is changed as a whole, or not at all', async (test) => {
    const { open, read, refuse, running } = await setUp(test);
    const control = await open();
    const applied = await control.apply(text(yaml('a', 'b')), { author: 'anna', expected: 0 });
    assert.ok(applied.kind === 'applied');
    assert.deepEqual(applied.changes.triggers, { added: ['a', 'b'], changed: [], removed: ['own'] });
    assert.equal(read(), yaml('a', 'b'));
    const late = await control.apply(text(yaml('c')), { author: 'ben', expected: 0 });
    assert.deepEqual(late, { kind: 'conflict', version: 1 });
    const wrong = await control.apply(text(yaml('c').replace('trigger_id: c', 'trigger_id: d')), anna);
    assert.ok(wrong.kind === 'invalid');
    const errors = wrong.problems.filter(({ severity }) => severity === 'error');
    assert.deepEqual(
      errors.map(({ path }) => path),
      ['router_rules.routers[0].trigger_id'],
    );
    refuse(new Error('cannot be run'));
    assert.equal((await control.apply(text(yaml('c')), anna)).kind, 'invalid');
    assert.deepEqual(running(), ['a', 'b']);
    assert.equal(read(), yaml('a', 'b'));
    assert.deepEqual(
      (await control.versions.list()).map(({ author, number }) => [number, author]),
      [[1, 'anna']],
    );
    await control.lookAtFile();
    assert.equal(control.inForce().version.number, 1);
  });

  it('is rolled back when the file cannot be written', async (test) => {
    const { folder, open, running, write } = await setUp(test);
    write(yaml('a'));
    const control = await open();
    rmSync(join(folder, 'events.yaml'));
    mkdirSync(join(folder, 'events.yaml', 'in the way'), { recursive: true });
    await assert.rejects(control.apply(text(yaml('b')), anna));
    assert.deepEqual([running(), control.inForce().version.number], [['a'], 1]);
  });

  it('keeps the comments of the file when the new text has none', async (test) => {
    const { open, read, write } = await setUp(test);
    write(yaml('a'));
    const control = await open();
    const checked = control.inForce().config.message;
    const bytes = toBinary(EventSchema, checked);
    const applied = await control.apply({ format: 'protobuf', bytes }, anna);
    assert.ok(applied.kind === 'applied' && applied.lostComments === 0);
    assert.match(read(), /^# kept\n/);
    const json = JSON.stringify({ components: { sources: [{ ref: { uniqueId: 'x', kind: 'gateway' } }] } });
    await control.apply(text(json), anna);
    assert.match(read(), /^# kept\ncomponents:\n {2}sources:/);
  });

  it('can be rolled back to an earlier version', async (test) => {
    const { open, read, running } = await setUp(test);
    const control = await open();
    await control.apply(text(yaml('a')), anna);
    await control.apply(text(yaml('b')), anna);
    const back = await control.rollback(1, { author: 'ben', expected: 2 });
    assert.ok(back?.kind === 'applied');
    assert.deepEqual(running(), ['a']);
    assert.equal(read(), yaml('a'));
    assert.deepEqual(
      (await control.versions.list()).map(({ author, number, via }) => [number, author, via]),
      [
        [3, 'ben', 'rollback'],
        [2, 'anna', 'api'],
        [1, 'anna', 'api'],
      ],
    );
    assert.equal(await control.rollback(9, anna), null);
  });

  it('has a hundred earlier versions at most', async (test) => {
    const { open } = await setUp(test);
    const control = await open();
    for (let count = 0; count < 105; count += 1) await control.apply(text(yaml(`t${count}`)), anna);
    const numbers = (await control.versions.list()).map(({ number }) => number);
    assert.deepEqual([numbers.length, numbers[0], numbers.at(-1)], [100, 105, 6]);
  });
});
