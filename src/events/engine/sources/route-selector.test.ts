import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloudEvent } from '../../../../test/support/events/cloud-event.ts';
import { numberedEvent } from '../../../../test/support/events/event-trigger.ts';
import { fc } from '../../../../test/support/machine/properties.ts';
import { compile } from '../../cesql/cesql.ts';
import type { Route } from '../../config/config.ts';
import { createRouteSelector } from './route-selector.ts';

const route = (sourceId: string, cesql: string): Route => {
  const compiled = compile(cesql);
  assert.ok(cesql === '' || compiled.ok, cesql);
  return {
    sourceId,
    triggerId: 't',
    channelId: 'c',
    filter: cesql !== '' && compiled.ok ? compiled.expression : null,
  };
};

const texts = [
  "type = 't'",
  "type LIKE 'a%'",
  "EXISTS subject AND subject != ''",
  'LENGTH(id) > 3',
  "source = '/test' OR id = '7'",
  'INT(id) > 2',
  "id IN ('1', '2')",
  'NOT EXISTS datanone',
  "type LIKE '%x_'",
  'missing > 1',
];

describe('the selection of routers', () => {
  it('is the same with many filters as with each of them alone', () => {
    const filters = fc.uniqueArray(fc.constantFrom(...texts), { minLength: 1 });
    fc.assert(
      fc.property(filters, cloudEvent, (some, event) => {
        const routes = some.map((text) => route('s', text.replace('datanone', 'datanone')));
        const alone = routes.some(({ filter }) => filter?.matches(event.attributes));
        assert.equal(createRouteSelector(routes)(event, 's'), alone);
      }),
    );
  });

  it('considers only the routers of the source of the event', () => {
    const many = texts.map((text) => route('a', text.replace('datanone', 'datanone')));
    const selects = createRouteSelector([...many, route('b', "type = 'other'"), route('c', '')]);
    const event = numberedEvent('1');
    assert.deepEqual(
      ['a', 'b', 'c', 'd', null].map((source) => selects(event, source)),
      [true, false, true, false, false],
    );
  });
});
