import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Asking,
  comboOf,
  connectionAt,
  places,
  planner,
  routesOf,
  type World,
} from '../../../test/support/routing/routing.ts';
import type { GatewayError } from '../../lib/error.ts';
import { resolve } from './resolve.ts';

const resolvedPlaces = (requested: string, world: World) => places(planner(world)(requested));
const ways = (requested: string, world: World) =>
  resolve(requested, routesOf(world)).via.map(({ by, name }) => `${by}:${name}`);

describe('a requested model id', () => {
  it('with a connection or provider before its first slash is final', () => {
    const world: World = {
      connections: [connectionAt('work', 'groq', { priority: 1 }), connectionAt('spare', 'groq')],
      aliases: { 'work*': 'demo/echo', '*': 'demo/echo' },
    };
    assert.deepEqual(resolvedPlaces('work/openai/gpt-oss-120b', world), ['work/openai/gpt-oss-120b']);
    assert.deepEqual(resolvedPlaces('groq/llama', world), ['work/llama', 'spare/llama']);
  });

  it('goes to the connection that lists it, then to one whose catalogue knows it', () => {
    const model = 'llama-3.3-70b-versatile';
    const connections = [
      connectionAt('a', 'groq'),
      connectionAt('b', 'groq', { models: [model] }),
      connectionAt('c', 'groq', { defaultModel: model }),
    ];
    assert.deepEqual(resolvedPlaces(model, { connections }), [`b/${model}`, `c/${model}`, `a/${model}`]);
  });

  it('with a slash but an unknown prefix is taken as a bare id', () => {
    const connections = [connectionAt('a', 'groq', { models: ['meta/llama-4'] })];
    assert.deepEqual(resolvedPlaces('meta/llama-4', { connections }), ['a/meta/llama-4']);
  });

  it('below claude/, where model pickers look, leads to the same model', () => {
    const world = { connections: [connectionAt('a', 'groq')], combos: [comboOf('fast', ['a/m2'])] };
    assert.deepEqual(resolvedPlaces('claude/a/m1', world), ['a/m1']);
    assert.deepEqual(resolvedPlaces('claude/fast', world), ['a/m2']);
  });

  it('is an alias, a combo, the active combo, then what is listed, in this order', () => {
    const connections = [connectionAt('a', 'groq', { models: ['m'] }), connectionAt('b', 'groq')];
    const active = comboOf('active', ['b/m', 'a/other'], { active: true });
    assert.deepEqual(ways('m', { connections }), ['listed:m']);
    assert.deepEqual(ways('m', { connections, combos: [active] }), ['active-combo:active']);
    assert.deepEqual(resolvedPlaces('m', { connections, combos: [active] }), ['b/m']);
    const named = comboOf('m', ['a/x']);
    assert.deepEqual(ways('m', { connections, combos: [active, named] }), ['combo:m']);
    const aliases = { m: 'a/y' };
    assert.deepEqual(ways('m', { connections, combos: [active, named], aliases }), [
      'alias:m',
      'connection:a',
    ]);
  });

  it('is no pattern where a combo has that very name, and a pattern before what is listed', () => {
    const connections = [connectionAt('a', 'groq', { models: ['gpt-5'] })];
    const world = { connections, combos: [comboOf('gpt-fast', ['a/x'])], aliases: { 'gpt-*': 'a/y-*' } };
    assert.deepEqual(resolvedPlaces('gpt-fast', world), ['a/x']);
    assert.deepEqual(resolvedPlaces('gpt-5', world), ['a/y-5']);
  });

  it('called auto is the active combo', () => {
    const world = {
      connections: [connectionAt('a', 'groq')],
      combos: [comboOf('one', ['a/x']), comboOf('two', ['a/y', 'a/z'], { active: true })],
      aliases: { '*': 'a/caught', a: 'auto' },
    };
    assert.deepEqual(resolvedPlaces('auto', world), ['a/y', 'a/z']);
    assert.deepEqual(resolvedPlaces('a', world), ['a/y', 'a/z']);
  });

  it('may lead through several aliases, each at most once', () => {
    const connections = [connectionAt('a', 'groq', { models: ['m'] })];
    assert.deepEqual(resolvedPlaces('x', { connections, aliases: { x: 'y', y: 'z', z: 'm' } }), ['a/m']);
    assert.deepEqual(resolvedPlaces('anything', { connections, aliases: { '*': 'm' } }), ['a/m']);
    assert.equal(refusal('x', { connections, aliases: { x: 'y', y: 'x' } }).code, 'model_not_found');
  });

  it('as Claude Code and Copilot write it is understood when nobody else knows it', () => {
    const connections = [connectionAt('a', 'anthropic')];
    assert.deepEqual(resolvedPlaces('claude-sonnet-4-5[1m]', { connections }), ['a/claude-sonnet-4-5']);
    assert.deepEqual(resolvedPlaces('claude-sonnet-4.5', { connections }), ['a/claude-sonnet-4-5']);
    const own = { 'claude-sonnet-4.5': 'demo/echo' };
    assert.deepEqual(resolvedPlaces('claude-sonnet-4.5', { connections, aliases: own }), ['demo/echo']);
  });
});

describe('a refusal', () => {
  it('says what to do', () => {
    const world = { connections: [connectionAt('a', 'anthropic')] };
    assert.equal(refusal('auto', world).code, 'no_combo_configured');
    assert.match(refusal('auto', world).message, /\/dashboard\/combos/);
    assert.equal(refusal('nowhere', world).code, 'model_not_found');
    assert.match(refusal('mistral/large', world).message, /gateway provider add mistral/);
    const mismatch = refusal('a/claude', world, { format: 'openai-embeddings' });
    assert.equal(mismatch.code, 'format_not_supported');
    assert.equal(mismatch.status, 400);
    assert.match(mismatch.message, /anthropic-messages.*openai-embeddings/);
    assert.equal(mismatch.param, 'model');
  });

  it('names the alias that led nowhere, and the combo whose targets are gone', () => {
    assert.match(refusal('x', { aliases: { x: 'gone' } }).message, /"gone", which "x" leads to/);
    const combos = [comboOf('c', ['removed/m'])];
    assert.match(refusal('c', { combos }).message, /combo "c".*no active connection "removed"/);
  });

  it('repeats a hostile model id without control characters and not at length', () => {
    const { message } = refusal(`x\u0007\n${'y'.repeat(5000)}`, {});
    assert.ok(message.length < 500);
    assert.ok(!/[\u0000-\u001f]/.test(message));
  });
});

function refusal(requested: string, world: World, asking: Asking = {}): GatewayError {
  try {
    planner(world)(requested, asking);
  } catch (error) {
    return error as GatewayError;
  }
  return assert.fail(`${requested} was not refused`);
}
