import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toolKinds } from './definition.ts';
import { builtInAgents } from './list.ts';

describe('the built-in agents', () => {
  it('have ids of their own that can stand in a model id', () => {
    const ids = builtInAgents.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const id of ids) assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
  });

  for (const agent of builtInAgents)
    it(`${agent.id} is allowed nothing that runs or changes something before its owner allows it`, () => {
      const harmless = ['read', 'search', 'think'];
      for (const kind of toolKinds)
        if (!harmless.includes(kind)) assert.ok(!agent.permissions.includes(kind), kind);
    });
});
