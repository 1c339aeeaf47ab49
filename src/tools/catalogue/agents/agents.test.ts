import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentTools } from './index.ts';

describe('the agents of the catalogue', () => {
  it('are eight, each of the category', () => {
    const ids = 'hermes-agent openclaw goose interpreter warp agent-deck omp letta'.split(' ');
    assert.deepEqual(
      agentTools.map(({ id }) => id),
      ids,
    );
    for (const { category } of agentTools) assert.equal(category, 'agent');
  });

  it('can all be shown, and name what they were verified against', () => {
    for (const { binaries, color, docsUrl, evidence, id } of agentTools) {
      assert.match(color, /^#[0-9A-F]{6}$/, id);
      assert.equal(URL.canParse(docsUrl), true, id);
      assert.ok(binaries.length > 0, id);
      assert.match(evidence.date, /^\d{4}-\d\d-\d\d$/, id);
    }
  });

  it('hold their key themselves only where they cannot name a variable', () => {
    const holding = agentTools.filter(({ recipe }) => JSON.stringify(recipe.files).includes('<api_key>'));
    assert.deepEqual(
      holding.map(({ id }) => id),
      ['interpreter', 'agent-deck', 'letta'],
    );
  });
});
