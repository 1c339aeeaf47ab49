import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settings } from '../../../../src/settings/list.ts';
import english from '../../locales/en/settings.json' with { type: 'json' };
import { grouped } from './groups.ts';
import type { Setting } from './queries.ts';

const all = settings.map(({ name }) => ({ id: name, name }) as Setting);

describe('the groups of settings', () => {
  it('contain every setting of the gateway exactly once', () => {
    const parts = grouped(all);
    assert.deepEqual(
      parts.filter(({ group }) => group === 'other'),
      [],
    );
    assert.deepEqual(
      parts.flatMap((part) => part.settings.map(({ name }) => name)).sort(),
      all.map(({ name }) => name).sort(),
    );
  });

  it('show an unknown setting under "other"', () => {
    const [part] = grouped([{ id: 'new_one', name: 'new_one' } as Setting]);
    assert.equal(part?.group, 'other');
  });
});

it('every setting is described', () => {
  const described = (name: string): unknown =>
    name
      .split('.')
      .reduce<unknown>(
        (texts, part) => (texts as Record<string, unknown> | undefined)?.[part],
        english.describe,
      );
  assert.deepEqual(
    all.filter(({ name }) => typeof described(name) !== 'string').map(({ name }) => name),
    [],
  );
});
