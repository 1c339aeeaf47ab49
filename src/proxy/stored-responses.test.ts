import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError } from '../lib/error.ts';
import { itemList } from './stored-responses.ts';

const items = Array.from({ length: 25 }, (_, index) => ({ id: `msg_${index}`, type: 'message' }));
const list = (query: string) => itemList(items, new URLSearchParams(query));
const ids = ({ data }: Record<string, unknown>) => (data as { id: string }[]).map(({ id }) => id);

describe('a list of items', () => {
  it('has the last twenty first', () => {
    const page = list('');
    assert.deepEqual(
      [ids(page).length, page['first_id'], page['last_id'], page['has_more'], page['object']],
      [20, 'msg_24', 'msg_5', true, 'list'],
    );
  });

  it('continues after an item, in either direction', () => {
    assert.deepEqual(ids(list('order=asc&limit=2&after=msg_3')), ['msg_4', 'msg_5']);
    assert.deepEqual(ids(list('limit=2&after=msg_3')), ['msg_2', 'msg_1']);
    const end = list('order=asc&after=msg_24');
    assert.deepEqual(
      [end['data'], end['first_id'], end['last_id'], end['has_more']],
      [[], null, null, false],
    );
  });

  it('names the parameter that it refuses', () => {
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['limit=101', 'limit'],
      ['limit=x', 'limit'],
      ['order=up', 'order'],
      ['after=none', 'after'],
    ])
      assert.throws(
        () => list(query ?? ''),
        (error) => error instanceof GatewayError && error.code === 'invalid_request' && error.param === param,
      );
  });
});
