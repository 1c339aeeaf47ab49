import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comboOf, connectionAt, routesOf } from '../../../test/support/routing/routing.ts';
import { MAX_DEPTH } from './compile.ts';
import type { Pool } from './pool.ts';

const connections = ['a', 'b'].map((name) => connectionAt(name));

const poolsOf = (combos: ReturnType<typeof comboOf>[]) => routesOf({ connections, combos }).combos;
const places = (pool: Pool | undefined) =>
  pool?.candidates.map(({ connection, model }) => `${connection.name}/${model}`);

describe('compiled combos', () => {
  it('have every candidate once, those of inner combos in their places', () => {
    const { active, byName } = poolsOf([
      comboOf('outer', ['a/1', 'inner', 'b/2'], { active: true }),
      comboOf('inner', ['b/1', 'a/1', 'b/2']),
    ]);
    assert.equal(active, byName.get('outer'));
    assert.deepEqual(places(byName.get('outer')), ['a/1', 'b/1', 'b/2']);
    assert.equal(byName.get('outer')?.candidates[0], byName.get('inner')?.candidates[1], 'they are the same');
    assert.deepEqual(byName.get('outer')?.missing, []);
  });

  it('leave out targets that do not exist, and report them', () => {
    const combo = comboOf('x', ['gone/m', 'openai/m', 'nothing', 'a/m', 'hollow']);
    const { byName } = poolsOf([combo, comboOf('hollow', ['gone/m'])]);
    const pool = byName.get('x');
    assert.deepEqual(places(pool), ['a/m']);
    assert.deepEqual(
      pool?.missing.map(({ connection, detail, model }) => [`${connection}/${model}`, detail]),
      [
        ['gone/m', 'There is no active connection "gone"'],
        ['openai/m', 'The provider "openai" has no active connection'],
        ['nothing/', 'There is no combo "nothing"'],
        ['hollow/', 'The combo "hollow" has no target that can be asked'],
      ],
    );
  });

  it('break cycles, which two users can create at the same moment', () => {
    const { byName } = poolsOf([comboOf('x', ['a/1', 'y']), comboOf('y', ['b/1', 'x'])]);
    assert.deepEqual(places(byName.get('x')), ['a/1', 'b/1']);
    assert.deepEqual(places(byName.get('y')), ['b/1']);
    assert.match(byName.get('y')?.missing[0]?.detail ?? '', /"x" contains itself/);
  });

  it('are nested no deeper than the limit', () => {
    const names = Array.from({ length: MAX_DEPTH + 1 }, (_, index) => `c${index}`);
    const combos = names.map((name, index) =>
      comboOf(name, index === 0 ? ['a/0'] : [`c${index - 1}`, `a/${index}`]),
    );
    const { byName } = poolsOf(combos);
    assert.equal(byName.get(`c${MAX_DEPTH - 1}`)?.depth, MAX_DEPTH);
    assert.deepEqual(places(byName.get(`c${MAX_DEPTH}`)), [`a/${MAX_DEPTH}`]);
  });
});
