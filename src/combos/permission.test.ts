import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import {
  comboOf,
  connectionAt,
  places,
  planner,
  routesOf,
  type World,
} from '../../test/support/routing/routing.ts';
import { allowsModel } from '../access/keys/allowed-models.ts';
import { GatewayError } from '../lib/error.ts';
import { resolve } from './routing/resolve.ts';

const connections = [
  connectionAt('work', 'openai', { models: ['cheap', 'dear'] }),
  connectionAt('lab', 'openai-compatible', { models: ['dear', 'claude-x', 'smart'] }),
  connectionAt('router', 'openrouter', { models: ['work/cheap', 'openai/dear', 'claude/dear'] }),
];

function outcome(world: World, requested: string, models: readonly string[]): string[] | string {
  try {
    return places(planner(world)(requested, { principal: { keyId: 'k', name: 'k', models: [...models] } }));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.code;
  }
}

describe('a key with a list of models', () => {
  const combos = [comboOf('smart', ['work/cheap']), comboOf('all', ['smart', 'lab/dear'], { active: true })];
  const aliases = { 'claude-*': 'lab/dear', fast: 'work/cheap' };
  const world = { connections, combos, aliases };
  const refused = 'model_not_allowed';

  it('is not opened by the prefix under which every model is listed', () => {
    assert.equal(outcome(world, 'claude/lab/dear', ['claude*']), refused);
    assert.equal(outcome(world, 'claude/all', ['claude/*']), refused);
    assert.deepEqual(outcome(world, 'claude/work/cheap', ['work/cheap']), ['work/cheap']);
  });

  it('is not opened by an alias whose pattern looks like an entry of it', () => {
    assert.equal(outcome(world, 'claude-opus', ['claude-*']), refused);
    assert.deepEqual(outcome(world, 'claude-opus', ['lab/dear']), ['lab/dear']);
  });

  it('is not opened by a connection that is called like an entry of it', () => {
    const lab = { connections, combos: [comboOf('lab', ['work/cheap'])] };
    assert.equal(outcome(lab, 'lab/dear', ['lab']), refused);
    assert.deepEqual(outcome(lab, 'lab', ['lab']), ['work/cheap']);
    assert.equal(outcome(lab, 'openai/dear', ['openai']), refused);
  });

  it('allows a model by whatever name it was requested', () => {
    assert.deepEqual(outcome(world, 'fast', ['work/*']), ['work/cheap']);
    assert.deepEqual(outcome(world, 'lab/claude-x', ['claude*']), ['lab/claude-x']);
    assert.deepEqual(outcome(world, 'auto', ['openai/*']), ['work/cheap']);
    assert.deepEqual(outcome(world, 'auto', ['auto']), ['work/cheap', 'lab/dear']);
    assert.deepEqual(outcome(world, 'fast', ['fast']), ['work/cheap']);
  });
});

describe('any requested model', () => {
  const words = ['work', 'lab', 'router', 'openai', 'openrouter', 'smart', 'all', 'claude', 'auto', 'fast'];
  const models = ['cheap', 'dear', 'claude-x', 'smart', 'work/cheap', 'openai/dear', 'claude/dear'];
  const word = fc.constantFrom(...words, ...models, 'claude-y', '*');
  const id = fc.oneof(
    word,
    fc.tuple(word, word).map((two) => two.join('/')),
    fc.tuple(word, word, word).map((three) => three.join('/')),
  );
  const entry = fc.oneof(
    id,
    id.map((text) => `${text}*`),
    id.map((text) => `${text.slice(0, 3)}*`),
  );
  const target = fc.constantFrom('work/cheap', 'work/dear', 'lab/dear', 'lab/claude-x', 'openai/cheap');
  const worlds = fc.record({
    smart: fc.array(target, { minLength: 1, maxLength: 3 }),
    all: fc.array(fc.oneof(target, fc.constant('smart')), { minLength: 1, maxLength: 3 }),
    aliases: fc.dictionary(fc.constantFrom('fast', 'cheap', 'claude-*', 'l*', 'claude/*'), id, {
      maxKeys: 3,
    }),
    active: fc.boolean(),
  });

  it('what runs is what the list allows, or what a combo or alias of the list stands for', () => {
    fc.assert(
      fc.property(worlds, id, fc.array(entry, { minLength: 1, maxLength: 3 }), (made, requested, allowed) => {
        const combos = [comboOf('smart', made.smart), comboOf('all', made.all, { active: made.active })];
        const world = { connections, combos, aliases: made.aliases };
        const ran = outcome(world, requested, allowed);
        if (typeof ran === 'string') return;
        const allowedPlaces = new Set(allowed.flatMap((name) => standsFor(world, name)));
        for (const place of ran)
          assert.ok(
            allowedPlaces.has(place) || isAllowed(allowed, place),
            `${place} ran for ${requested} with ${allowed}`,
          );
      }),
      { numRuns: 600 },
    );
  });

  /** What a combo, an exact alias or `auto` leads to. */
  function standsFor(world: World, name: string): string[] {
    const isName =
      name === 'auto' ||
      name === 'smart' ||
      name === 'all' ||
      (name in (world.aliases ?? {}) && !name.includes('*'));
    if (!isName) return [];
    try {
      return resolve(name, routesOf(world)).pool.candidates.map(
        ({ connection, model }) => `${connection.name}/${model}`,
      );
    } catch {
      return [];
    }
  }

  function isAllowed(allowed: readonly string[], place: string): boolean {
    const slash = place.indexOf('/');
    const connection = connections.find(({ name }) => name === place.slice(0, slash));
    const model = place.slice(slash + 1);
    return allowsModel(allowed, {
      connection: connection?.name ?? '',
      provider: connection?.provider ?? '',
      model,
    });
  }
});
