import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allowsModel, allowsName } from './allowed-models.ts';

describe('a list of allowed models', () => {
  const gpt = { connection: 'work', provider: 'openai', model: 'gpt-5' };
  const routed = { connection: 'router', provider: 'openrouter', model: 'openai/gpt-5' };

  it('compares an entry with a slash with the connection and the provider', () => {
    assert.equal(allowsModel(['openai/gpt-5'], gpt), true);
    assert.equal(allowsModel(['work/gpt-5'], gpt), true);
    assert.equal(allowsModel(['openai/gpt-5'], { ...gpt, model: 'gpt-5-mini' }), false);
    assert.equal(allowsModel(['openai/*'], gpt), true);
    assert.equal(allowsModel(['openai/*'], { ...gpt, provider: 'openai-eu' }), false);
  });

  it('compares an entry without a slash with the model at any connection', () => {
    assert.equal(allowsModel(['gpt-5'], gpt), true);
    assert.equal(allowsModel(['gpt*'], gpt), true);
    assert.equal(allowsModel(['gpt'], gpt), false);
    assert.equal(allowsModel(['work'], gpt), false);
    assert.equal(allowsModel(['work*'], gpt), false);
  });

  it('does not take a model id with a slash for a model of that provider', () => {
    assert.equal(allowsModel(['openai/gpt-5'], routed), false);
    assert.equal(allowsModel(['openai/*'], routed), false);
    assert.equal(allowsModel(['openrouter/openai/*'], routed), true);
  });

  it('allows everything with * and nothing when it is empty', () => {
    assert.equal(allowsModel(['*'], gpt), true);
    assert.equal(allowsModel(['*'], routed), true);
    assert.equal(allowsModel([], gpt), false);
    assert.equal(allowsModel(['g*5'], gpt), false, 'a star counts at the end alone');
  });

  it('treats a slash in a pattern as an ordinary character', () => {
    const dots = { connection: 'up', provider: 'openai-compatible', model: 'm/../dear' };
    assert.equal(allowsModel(['up/m*', 'm*', '*'], dots), false);
    assert.equal(allowsModel(['up/m/../dear'], dots), true);
    assert.equal(allowsModel(['up/m*'], { ...dots, model: 'm-1.5' }), true);
  });

  it('names combos and aliases exactly', () => {
    assert.equal(allowsName(['smart'], 'smart'), true);
    assert.equal(allowsName(['sm*'], 'smart'), false);
    assert.equal(allowsName(['*'], 'smart'), false);
    assert.equal(allowsName(['claude-*'], 'claude-*'), false, 'the pattern of an alias is no name');
  });
});
