import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { builtInAgents, unusableAgents } from './list.ts';
import { toolKinds } from './schema.ts';

describe('the built-in agents', () => {
  it('have unique ids that can be part of a model id', () => {
    const ids = builtInAgents.map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length);
    for (const id of ids) assert.match(id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    for (const { id } of unusableAgents) assert.ok(!ids.includes(id), id);
  });

  const gateway = { baseUrl: 'http://127.0.0.1:1', key: 'sk-canary', model: 'some/model' };
  for (const { args, id, route, variables = {} } of builtInAgents)
    it(`${id} gets no key on its command line, where other users of the machine could read it`, () => {
      const { args: added = [], env = {}, files = {} } = route?.(gateway) ?? {};
      assert.doesNotMatch([...args, ...added, ...Object.values(variables)].join(' '), /sk-canary/);
      for (const path of Object.keys(files)) assert.match(path, /^\.[^/]+\/[^.]/, 'below its home folder');
      if (route === undefined) return;
      const settings = JSON.stringify([added, env, files]);
      for (const value of Object.values(gateway)) assert.ok(settings.includes(value), value);
    });

  for (const agent of builtInAgents)
    it(`${agent.id} is allowed nothing that runs or changes something before its owner allows it`, () => {
      const harmless = ['read', 'search', 'think'];
      for (const kind of toolKinds)
        if (!harmless.includes(kind)) assert.ok(!agent.permissions.includes(kind), kind);
    });
});
