import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { membersOfEdits } from './edits.ts';
import { checkIfMatch, etagOf, isFresh } from './etag.ts';
import { checkDepth, validated } from './input.ts';

function refusedAt(run: () => unknown): string | null {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'invalid_request') return error.param;
    throw error;
  }
  return assert.fail('was taken');
}

describe('input', () => {
  const schema = z.object({
    name: z.string().trim().min(1),
    options: z.object({ level: z.number() }).optional(),
    rules: z.array(z.object({ model: z.string() })).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    extra: z.looseObject({ known: z.string() }).optional(),
  });

  it('is returned as its schema parses it', () => {
    const input = { name: ' a ', labels: { b: 'c' }, extra: { known: 'd', other: [1] } };
    assert.deepEqual(validated(schema, input), { ...input, name: 'a' });
  });

  const refused: readonly [input: unknown, param: string][] = [
    [null, 'body'],
    [[], 'body'],
    ['text', 'body'],
    [{}, 'name'],
    [{ name: 1 }, 'name'],
    [{ name: 'a', nope: 1 }, 'nope'],
    [{ name: 'a', options: { level: 1, deep: 2 } }, 'options.deep'],
    [{ name: 'a', options: { level: 'x' } }, 'options.level'],
    [{ name: 'a', rules: [{ model: 'b' }, { model: 'c', no: 1 }] }, 'rules[1].no'],
    [{ name: 'a', labels: { b: 1 } }, 'labels.b'],
    [JSON.parse('{"name":"a","__proto__":{"x":1}}'), '__proto__'],
  ];
  for (const [input, param] of refused) {
    it(`is refused at ${param}: ${JSON.stringify(input)}`, () =>
      assert.equal(
        refusedAt(() => validated(schema, input)),
        param,
      ));
  }

  it('has the position in a list in its error', () =>
    assert.equal(
      refusedAt(() => validated(schema, { name: '' }, 'resources[2]')),
      'resources[2].name',
    ));

  it('is refused with a GatewayError and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        try {
          validated(schema, value);
        } catch (error) {
          assert.ok(error instanceof GatewayError, String(error));
        }
      }),
    );
  });

  it('is refused if it is nested too deep', () => {
    checkDepth(JSON.parse(`${'['.repeat(60)}${']'.repeat(60)}`));
    const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    assert.equal(
      refusedAt(() => checkDepth(deep)),
      'body',
    );
  });
});

describe('a list of edits', () => {
  const row = { id: 'x', name: 'a', labels: { team: 'b', tier: { level: 1 } } };

  it('becomes the fields that it changes', () => {
    const edits = [
      { action: 'edit', path: 'name', value: 'c' },
      { action: 'add', path: '/limit', value: 5 },
      { action: 'remove', path: 'note' },
      { action: 'add', path: 'labels/zone', value: 'eu' },
      { action: 'edit', path: 'labels/tier/level', value: 2 },
      { action: 'remove', path: 'labels/team' },
    ];
    assert.deepEqual(membersOfEdits(edits, row), {
      name: 'c',
      limit: 5,
      note: null,
      labels: { zone: 'eu', tier: { level: 2 } },
    });
    assert.deepEqual(row.labels, { team: 'b', tier: { level: 1 } }, 'the row stays as it was');
  });

  const refused: readonly [edit: unknown, param: string][] = [
    [null, '[0]'],
    [{ action: 'move', path: 'name', value: 1 }, '[0].action'],
    [{ action: 'edit', path: 'name' }, '[0].value'],
    [{ action: 'remove', path: 'name', value: 1 }, '[0].value'],
    [{ action: 'edit', path: '', value: 1 }, '[0].path'],
    [{ action: 'edit', path: 5, value: 1 }, '[0].path'],
    [{ action: 'edit', path: 'a//b', value: 1 }, '[0].path'],
    [{ action: 'edit', path: '__proto__/x', value: 1 }, '[0].path'],
    [{ action: 'edit', path: 'labels/constructor/prototype', value: 1 }, '[0].path'],
    [{ action: 'edit', path: 'name/first', value: 1 }, '[0].path'],
    [{ action: 'edit', path: 'name', value: 1, op: 'x' }, '[0].op'],
  ];
  for (const [edit, param] of refused) {
    it(`is refused at ${param}: ${JSON.stringify(edit)}`, () =>
      assert.equal(
        refusedAt(() => membersOfEdits([edit], row)),
        param,
      ));
  }
});

describe('the ETag of a resource', () => {
  const row = { id: 'x', state: 'running', uptime_seconds: 5, last_used_at: null };
  const tag = (members: object, revision: string | null = null) =>
    etagOf({ ...row, ...members }, { ...row, ...members }, revision);
  const matches = (header: string, members: object, revision: string | null = null): boolean => {
    try {
      checkIfMatch(header, { ...row, ...members }, revision);
      return true;
    } catch (error) {
      assert.ok(error instanceof GatewayError && error.status === 412);
      return false;
    }
  };

  it('is equal for equal resources, in whatever order their fields are', () => {
    const { id, ...rest } = row;
    assert.equal(etagOf(row, row, null), etagOf({ ...rest, id }, { ...rest, id }, null));
    assert.match(tag({}), /^"[0-9a-f]{24}\.[0-9a-f]{24}"$/);
  });

  it('lets a client change a resource only if it has seen the last change', () => {
    const seen = tag({});
    assert.ok(matches(seen, { uptime_seconds: 9, last_used_at: 'now' }), 'what it measured is no change');
    assert.ok(!matches(seen, { state: 'stopped' }));
    assert.ok(matches('*', { state: 'stopped' }));
    assert.ok(matches(`"other.tag", ${seen}`, {}));
    assert.ok(!matches(`W/${seen}`, {}), 'a weak tag is no proof');
    for (const header of ['', '"', 'x', '"."', ',']) assert.ok(!matches(header, {}));
  });

  it('depends only on the number of changes, if there is one', () => {
    const seen = tag({}, '7');
    assert.ok(matches(seen, { state: 'stopped' }, '7'));
    assert.ok(!matches(seen, {}, '8'));
  });

  it('shows whether a copy is still current', () => {
    const seen = tag({});
    assert.ok(isFresh(seen, tag({ uptime_seconds: 6 })));
    assert.ok(isFresh(`W/${seen}`, seen));
    assert.ok(isFresh('*', seen));
    assert.ok(!isFresh(seen, tag({ last_used_at: 'now' })));
    assert.ok(!isFresh(undefined, seen));
  });
});
