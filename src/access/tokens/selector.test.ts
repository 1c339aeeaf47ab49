import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collectionOf, selectorText, tokenScope } from './selector.ts';

const row = { id: 'mcp', name: 'MCP server', kind: 'mcp_server', labels: { team: 'search', 'a.b/c': 'x=y' } };

describe('a selector', () => {
  it('names a collection, an attribute or a label, and a value', () => {
    for (const text of [
      'services:id=mcp',
      'services:name=MCP server',
      'services:kind=mcp_server',
      'services:labels.team=search',
      'services:labels.a.b/c=x=y',
    ]) {
      assert.equal(selectorText.safeParse(text).success, true, text);
      assert.equal(collectionOf(text), 'services');
      const { narrowed, reaches } = tokenScope([text]);
      assert.deepEqual([narrowed('services'), narrowed('keys')], [true, false], text);
      assert.equal(reaches('services', row), true, text);
      assert.equal(reaches('services', { id: 'other' }), false, text);
      assert.equal(reaches('keys', { id: 'other' }), true, text);
    }
  });

  it('rejects every other form', () => {
    for (const text of [
      '',
      'services',
      'services:',
      'services:id',
      'services:id=',
      ' services:id=a',
      'Services:id=a',
      'services:guid=a',
      'services:ids=a',
      'services:id.x=a',
      'services:labels=a',
      'services:labels.=a',
      'services:labels.-a=b',
      `services:id=${'x'.repeat(201)}`,
    ]) {
      assert.equal(selectorText.safeParse(text).success, false, text);
      assert.equal(collectionOf(text), null, text);
    }
  });

  it('matches the whole value, and no other label', () => {
    const { reaches } = tokenScope([
      'services:id=mc',
      'services:labels.team=sear',
      'services:labels.constructor=x',
    ]);
    assert.equal(reaches('services', row), false);
    assert.equal(
      tokenScope(['services:labels.team=search']).reaches('services', { id: 'a', labels: null }),
      false,
    );
    assert.equal(
      tokenScope(['services:labels.team=search']).reaches('services', { id: 'a', labels: 'team' }),
      false,
    );
  });

  it('widens what other selectors of its collection allow', () => {
    const { reaches } = tokenScope(['services:id=one', 'services:id=mcp', 'keys:id=k']);
    assert.equal(reaches('services', row), true);
    assert.equal(reaches('services', { id: 'k' }), false);
    assert.equal(reaches('keys', { id: 'k' }), true);
  });

  it('that cannot be read allows nothing anywhere', () => {
    const { narrowed, reaches } = tokenScope(['of a later version']);
    assert.deepEqual([narrowed('services'), reaches('services', row)], [true, false]);
    const none = tokenScope(null);
    assert.deepEqual([none.narrowed('services'), none.reaches('services', row)], [false, true]);
  });
});
