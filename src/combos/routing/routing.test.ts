import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { comboOf, connectionAt, places, planner } from '../../../test/support/routing/routing.ts';
import type { Condition } from '../../health/health-view.ts';
import type { GatewayError } from '../../lib/error.ts';

const [a, b, c] = ['a', 'b', 'c'].map((name) => connectionAt(name)) as [
  ReturnType<typeof connectionAt>,
  ReturnType<typeof connectionAt>,
  ReturnType<typeof connectionAt>,
];
const connections = [a, b, c];
const abc = ['a/m', 'b/m', 'c/m'];

describe('a plan', () => {
  it('has the targets of a combo in the order of its strategy, and its options', () => {
    const options = { waitMs: 500, maxAttempts: 3 };
    const combo = comboOf('x', abc, { strategy: 'round-robin', options });
    const plan = planner({ connections, combos: [combo] });
    assert.deepEqual(places(plan('x')), ['a/m', 'b/m', 'c/m']);
    const second = plan('x');
    assert.deepEqual(places(second), ['b/m', 'c/m', 'a/m']);
    assert.equal(second.options.waitMs, 500);
    assert.equal(second.options.maxAttempts, 3);
    assert.equal(second.options.affinity, true);
    assert.deepEqual(places(plan('x')), ['c/m', 'a/m', 'b/m']);
  });

  it('keeps an inner combo together, in its own order', () => {
    const combos = [
      comboOf('outer', ['inner', 'c/m']),
      comboOf('inner', ['a/m', 'b/m'], { strategy: 'round-robin' }),
    ];
    const plan = planner({ connections, combos });
    assert.deepEqual(places(plan('outer')), ['a/m', 'b/m', 'c/m']);
    assert.deepEqual(places(plan('outer')), ['b/m', 'a/m', 'c/m']);
  });

  it('judges an inner combo by the target that it would try first', () => {
    const combos = [
      comboOf('outer', ['c/m', 'inner'], { strategy: 'least-used' }),
      comboOf('inner', ['a/m', 'b/m'], { strategy: 'least-used' }),
    ];
    const busy: Record<string, number> = { 'id-a': 9, 'id-b': 1, 'id-c': 2 };
    const plan = planner({ connections, combos }, { inFlight: (id) => busy[id] ?? 0 });
    assert.deepEqual(places(plan('outer')), ['b/m', 'a/m', 'c/m']);
  });

  it('has each target once, however many ways lead to it', () => {
    const combos = [comboOf('outer', ['inner', 'b/m', 'other', 'b/m']), comboOf('inner', ['a/m', 'b/m'])];
    combos.push(comboOf('other', ['inner', 'c/m']));
    assert.deepEqual(places(planner({ connections, combos })('outer')), ['a/m', 'b/m', 'c/m']);
  });

  it('reaches every connection of a provider, which share the weight of their target', () => {
    const of = (name: string, provider: string) => connectionAt(name, provider, { priority: -name.length });
    const world = {
      connections: [of('g', 'groq'), of('gg', 'groq'), of('x', 'xai')],
      combos: [comboOf('mix', ['groq/m@2', 'x/n@3'], { strategy: 'weighted' })],
    };
    const draws: Record<string, number> = {};
    let seed = 1;
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const plan = planner(world, {}, random);
    for (let turn = 0; turn < 2_000; turn += 1) {
      const [first = ''] = places(plan('mix'));
      draws[first] = (draws[first] ?? 0) + 1;
    }
    for (const [place, share] of Object.entries({ 'g/m': 400, 'gg/m': 400, 'x/n': 1_200 }))
      assert.ok(Math.abs((draws[place] ?? 0) - share) < 120, `${place}: ${draws[place]}, not near ${share}`);
  });

  it('takes the cheapest for what is asked', () => {
    const world = {
      connections: [
        connectionAt('o', 'openai'),
        connectionAt('d', 'demo'),
        connectionAt('n', 'openai-compatible'),
      ],
      combos: [
        comboOf('thrifty', ['n/unpriced', 'o/gpt-4o', 'o/gpt-4o-mini', 'd/echo'], {
          strategy: 'lowest-cost',
        }),
      ],
    };
    assert.deepEqual(places(planner(world)('thrifty')), [
      'd/echo',
      'o/gpt-4o-mini',
      'o/gpt-4o',
      'n/unpriced',
    ]);
  });

  it('says in its trace how it came about', () => {
    const world = {
      connections,
      combos: [comboOf('x', ['a/m', 'removed/m', 'b/m'], { active: true, strategy: 'random' })],
      aliases: { mine: 'auto' },
    };
    const { trace } = planner(world, {}, () => 0.9)('mine');
    assert.equal(trace.requested, 'mine');
    assert.deepEqual(trace.via, [
      { by: 'alias', name: 'mine' },
      { by: 'active-combo', name: 'x' },
    ]);
    assert.deepEqual([trace.combo, trace.strategy], ['x', 'random']);
    assert.deepEqual(trace.candidates, [
      { connectionId: 'id-a', connection: 'a', provider: 'openai-compatible', model: 'm' },
      { connectionId: 'id-b', connection: 'b', provider: 'openai-compatible', model: 'm' },
    ]);
    assert.deepEqual(
      trace.skipped.map(({ connection, model, reason }) => [connection, model, reason]),
      [['removed', 'm', 'unavailable']],
    );
    assert.deepEqual(trace.attempts, []);
  });
});

describe('a target is taken out', () => {
  const skips = (plan: { trace: { skipped: readonly { connection: string; reason: string }[] } }) =>
    plan.trace.skipped.map(({ connection, reason }) => `${connection}:${reason}`);

  it('when nothing leads from the request to its format', () => {
    const world = {
      connections: [connectionAt('a', 'anthropic'), connectionAt('o', 'openai')],
      combos: [comboOf('x', ['a/m', 'o/m'])],
    };
    const plan = planner(world)('x', { format: 'openai-embeddings' });
    assert.deepEqual([places(plan), skips(plan)], [['o/m'], ['a:format']]);
    const both = planner(world)('x');
    assert.deepEqual(
      both.targets.map(({ format }) => format),
      ['anthropic-messages', 'openai-chat'],
    );
  });

  it('when the key may not use it; one that may use the combo may use its targets', () => {
    const world = { connections, combos: [comboOf('x', abc, { active: true })], aliases: { mine: 'x' } };
    const plan = planner(world);
    const key = (...models: string[]) => ({ principal: { keyId: 'k', name: 'laptop', models } });
    const some = plan('x', key('b/*', 'openai-compatible/other'));
    assert.deepEqual([places(some), skips(some)], [['b/m'], ['a:key', 'c:key']]);
    assert.match(some.trace.skipped[0]?.detail ?? '', /"laptop"/);
    for (const [requested, models] of [
      ['x', ['x']],
      ['auto', ['x']],
      ['auto', ['auto']],
      ['mine', ['x']],
      ['mine', ['mine']],
    ] as const)
      assert.deepEqual(places(plan(requested, key(...models))), abc, requested);
    assert.throws(
      () => plan('x', key('mine')),
      (error: GatewayError) => error.code === 'model_not_allowed',
    );
    assert.throws(
      () => plan('a/m', key('x')),
      (error: GatewayError) => error.code === 'model_not_allowed',
    );
  });

  it('when its format cannot express the request, if another can', () => {
    const old = connectionAt('old', 'completions-compatible');
    const world = {
      connections: [old, a],
      combos: [comboOf('x', ['old/m', 'a/m']), comboOf('alone', ['old/m'])],
    };
    const plan = planner(world);
    const tools = { tools: [{ type: 'function', function: { name: 'f' } }] };
    const image = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] };
    assert.deepEqual(skips(plan('x', { body: tools })), ['old:tools']);
    assert.deepEqual(skips(plan('x', { body: image })), ['old:images']);
    assert.deepEqual(places(plan('x', { body: { tools: [], messages: [] } })), ['old/m', 'a/m']);
    assert.deepEqual(
      places(plan('alone', { body: tools })),
      ['old/m'],
      'the refusal is left to the translation',
    );
  });

  it('when its model takes fewer tokens than the request has, if another takes more', () => {
    const world = {
      connections: [connectionAt('o', 'openai'), a],
      combos: [
        comboOf('x', ['o/gpt-4', 'o/gpt-4.1', 'a/m']),
        comboOf('small', ['o/gpt-4', 'o/gpt-3.5-turbo']),
      ],
    };
    const plan = planner(world);
    const body = { messages: [{ role: 'user', content: 'word '.repeat(40_000) }] };
    const long = plan('x', { body });
    assert.deepEqual([places(long), skips(long)], [['o/gpt-4.1', 'a/m'], ['o:context']]);
    assert.match(long.trace.skipped[0]?.detail ?? '', /50\d\d\d tokens.*8\d\d\d/);
    assert.deepEqual(places(plan('x', { body: { messages: [] } })).length, 3);
    assert.deepEqual(places(plan('small', { body })).length, 2, 'the upstream says best that it is too long');
  });
});

describe('accounts that are not ready', () => {
  const conditions: Record<string, Condition> = {
    'id-a': { state: 'cooling', until: 9_000, reason: 'rate limit' },
    'id-b': { state: 'needs-attention', reason: 'the key was refused' },
    'id-c': { state: 'exhausted', until: 5_000, reason: 'the quota of the day' },
  };
  const conditionOf = (id: string): Condition => conditions[id] ?? { state: 'ready' };

  it('come after the others, the soonest first, and are not skipped yet', () => {
    const world = {
      connections: [...connections, connectionAt('d'), connectionAt('e')],
      combos: [comboOf('x', [...abc, 'd/m', 'e/m'], { strategy: 'round-robin' })],
    };
    const plan = planner(world, { conditionOf });
    for (const ready of [
      ['d/m', 'e/m'],
      ['e/m', 'd/m'],
    ]) {
      const { trace, ...rest } = plan('x');
      assert.deepEqual(places(rest), [...ready, 'c/m', 'a/m', 'b/m']);
      assert.deepEqual(trace.skipped, []);
    }
  });

  it('are ordered by recovery time when none is ready', () => {
    const plan = planner({ connections, combos: [comboOf('x', abc)] }, { conditionOf });
    assert.deepEqual(places(plan('x')), ['c/m', 'a/m', 'b/m']);
  });
});

describe('a session', () => {
  const world = { connections, combos: [comboOf('x', abc, { strategy: 'round-robin' })] };
  const named = (name: string) => ({ headers: { 'x-session-id': name } });
  const first = (plan: Parameters<typeof places>[0]) => places(plan)[0];

  it('stays with its target, whatever the strategy says', () => {
    const plan = planner(world);
    assert.equal(first(plan('x', named('one'))), 'a/m');
    assert.equal(first(plan('x', named('two'))), 'b/m');
    const again = plan('x', named('one'));
    assert.equal(first(again), 'a/m');
    assert.equal(again.trace.affinity?.connection, 'a');
    assert.equal(places(again).length, 3, 'the others stay behind it');
    assert.equal(first(plan('x', named('two'))), 'b/m');
    assert.equal(plan('x').trace.affinity, null);
  });

  it('goes on with the target that answered instead', () => {
    const plan = planner(world);
    const one = plan('x', named('one'));
    const [, second] = one.targets;
    assert.ok(second);
    one.remember(second);
    assert.equal(first(plan('x', named('one'))), 'b/m');
  });

  it('leaves a target that is not ready', () => {
    let cooling = false;
    const plan = planner(world, {
      conditionOf: (id) =>
        cooling && id === 'id-a' ? { state: 'cooling', until: 1, reason: '' } : { state: 'ready' },
    });
    assert.equal(first(plan('x', named('one'))), 'a/m');
    cooling = true;
    const elsewhere = plan('x', named('one'));
    assert.notEqual(first(elsewhere), 'a/m');
    assert.equal(elsewhere.trace.affinity, null);
  });

  it('is one of its key and of the model that it asks for', () => {
    const plan = planner({ ...world, aliases: { y: 'x' } });
    plan('x', named('one'));
    const other = { keyId: 'other', name: 'other', models: null };
    assert.equal(plan('x', { ...named('one'), principal: other }).trace.affinity, null);
    assert.equal(plan('y', named('one')).trace.affinity, null);
    assert.equal(plan('x', named('one')).trace.affinity?.connection, 'a');
  });

  it('is forgotten where the combo does not want it', () => {
    const options = { affinity: false };
    const plan = planner({ connections, combos: [comboOf('x', abc, { strategy: 'round-robin', options })] });
    const order = [1, 2, 3].map(() => first(plan('x', named('one'))));
    assert.deepEqual(order, ['a/m', 'b/m', 'c/m']);
  });

  it('is recognized by its content from the second turn on, so that equal first requests are distributed', () => {
    const plan = planner(world);
    const user = { role: 'user', content: 'hello' };
    const begin = { body: { model: 'x', messages: [user] } };
    assert.equal(first(plan('x', begin)), 'a/m');
    assert.equal(first(plan('x', begin)), 'b/m');
    const next = [user, { role: 'assistant', content: 'hi' }, { role: 'user', content: 'go on' }];
    const nextPlan = plan('x', { body: { model: 'x', messages: next } });
    assert.equal(first(nextPlan), 'b/m');
    assert.equal(nextPlan.trace.affinity?.connection, 'b');
    const other = [{ role: 'user', content: 'hello you' }, ...next.slice(1)];
    assert.equal(plan('x', { body: { model: 'x', messages: other } }).trace.affinity, null);
  });
});
