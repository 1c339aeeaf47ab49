import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findTool } from '../catalogue/index.ts';
import type { Recipe, Tool } from '../tool.ts';
import { compareVersions, forVersion } from './version.ts';

describe('versions of tools', () => {
  it('are ordered by their numbers', () => {
    const ordered = ['0.8.9', '0.8.44-rc.2', '0.8.44-rc.10', '0.8.44', '0.9', '0.10.0', '1', '2026.9.6'];
    for (const [index, left] of ordered.entries())
      for (const [other, right] of ordered.entries())
        assert.equal(Math.sign(compareVersions(left, right)), Math.sign(index - other), `${left} ${right}`);
    assert.equal(compareVersions('1.0', '1.0.0'), 0);
    assert.equal(compareVersions('v1.2.3', '1.2.3+build'), 0);
  });

  it('decide by which recipe a tool is set up', () => {
    const recipe = (name: string): Recipe => ({ api: 'gemini', model: 'optional', files: [], steps: [name] });
    const [sample] = [findTool('claude')];
    assert.ok(sample !== null && sample !== undefined);
    const tool: Tool = {
      ...sample,
      recipe: recipe('newest'),
      formerRecipes: [
        { before: '1.0.0', recipe: recipe('first') },
        { before: '2.1.0', recipe: recipe('second') },
      ],
    };
    const chosen = (version: string | null) => forVersion(tool, version).recipe.steps?.[0];
    for (const [version, name] of [
      ['0.9.9', 'first'],
      ['1.0.0-beta', 'first'],
      ['1.0.0', 'second'],
      ['2.0.99', 'second'],
      ['2.1.0', 'newest'],
      ['10.0', 'newest'],
      [null, 'newest'],
    ] as const)
      assert.equal(chosen(version), name, String(version));
    assert.equal(forVersion(sample, '0.0.1'), sample, 'one recipe for all versions');
  });
});
