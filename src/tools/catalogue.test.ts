import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { agentTools } from './catalogue/agents/index.ts';
import { codeTools } from './catalogue/code/index.ts';
import { catalogue, tools } from './catalogue/index.ts';
import { uses } from './configuring/template.ts';
import type { Recipe, Tool } from './tool.ts';

const recipesOf = ({ formerRecipes = [], recipe }: Tool): readonly Recipe[] => [
  recipe,
  ...formerRecipes.map((former) => former.recipe),
];

describe('the catalogue of tools', () => {
  it('has every id once, and every field', () => {
    assert.equal(new Set(catalogue.map(({ id }) => id)).size, catalogue.length);
    for (const tool of catalogue) {
      assert.match(tool.id, /^[a-z][a-z0-9-]*$/);
      assert.match(tool.color, /^#[0-9A-F]{6}$/i, tool.id);
      assert.match(tool.docsUrl, /^https:\/\//, tool.id);
      assert.match(tool.evidence.date, /^\d{4}-\d\d-\d\d$/, tool.id);
      for (const text of [tool.name, tool.description, tool.vendor, tool.evidence.package])
        assert.ok(text.length > 0, tool.id);
    }
    assert.ok(codeTools.every(({ category }) => category === 'code'));
    assert.ok(agentTools.every(({ category }) => category === 'agent'));
  });

  it('hides four coding tools, each with what stands in the way', () => {
    assert.equal(codeTools.length, 25);
    const hidden = codeTools.filter(({ baseUrlSupport }) => baseUrlSupport === 'none');
    assert.deepEqual(
      hidden.map(({ id }) => id),
      ['cursor', 'antigravity', 'hermes', 'kiro'],
    );
    assert.deepEqual(
      catalogue.filter((tool) => !tools.includes(tool)),
      catalogue.filter(({ baseUrlSupport }) => baseUrlSupport === 'none'),
    );
    for (const { baseUrlSupport, id, limitation, recipe } of codeTools) {
      const settable = recipe.files.length > 0 || recipe.environment !== undefined;
      assert.ok(settable || limitation !== undefined || recipe.steps !== undefined, id);
      if (baseUrlSupport === 'none') assert.ok(limitation !== undefined && !settable, id);
    }
  });

  it('has an address and a key in every recipe that writes, and no key in a step', () => {
    for (const tool of catalogue)
      for (const { environment, files, steps = [] } of recipesOf(tool)) {
        for (const step of steps) assert.equal(step.includes('<api_key>'), false, tool.id);
        const settings = files.flatMap((file) => file.settings);
        const text = JSON.stringify([settings, environment ?? {}]);
        if (files.length === 0 && environment === undefined) continue;
        assert.ok(text.includes('<base_url>'), tool.id);
        assert.ok(/<(api_key|key_variable)>/.test(text), tool.id);
        if (files.length > 0)
          assert.ok(
            settings.some((setting) => uses(setting, 'base_url')),
            tool.id,
          );
      }
  });

  it('orders former recipes by their versions', () => {
    for (const { formerRecipes = [], id } of catalogue) {
      const versions = formerRecipes.map(({ before }) => before);
      const sorted = versions.toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
      assert.deepEqual(versions, sorted, id);
    }
  });
});
