import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import type { JsonObject } from '../../codecs/json/values.ts';
import { type FitSchema, fitSchema } from '../../codecs/schema/fit.ts';
import { schemaRules } from '../../codecs/schema/targets.ts';
import { GatewayError } from '../../lib/error.ts';
import { createFittedSchemas } from './fitted-schemas.ts';

const { openai, 'gemini-json': gemini } = schemaRules;
const parsed = (text: string): JsonObject => JSON.parse(text);
const path: JsonObject = {
  type: 'object',
  properties: { path: { type: 'string', format: 'x', minLength: 2 } },
};
/** What an attempt comes to, an error by its words. */
const outcome = (attempt: () => unknown) => {
  try {
    return attempt();
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return [error.code, error.message, error.param];
  }
};

describe('schemas that were fitted before', () => {
  it('are what fitting gives, the first time and later', () => {
    const words = fc.constantFrom(
      'type',
      'object',
      'string',
      'null',
      'anyOf',
      'properties',
      'items',
      '$ref',
      '#',
    );
    const schemas = fc.dictionary(words, fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 });
    const rules = fc.constantFrom(...Object.values(schemaRules));
    const fit = createFittedSchemas(2_000);
    fc.assert(
      fc.property(fc.array(fc.tuple(schemas, rules), { maxLength: 6 }), (calls) => {
        for (const [schema, rule] of [...calls, ...calls]) {
          const text = JSON.stringify(schema);
          const expected = outcome(() => fitSchema(parsed(text), rule, 'tools.a'));
          assert.deepEqual(
            outcome(() => fit(parsed(text), rule, 'tools.a')),
            expected,
          );
        }
      }),
    );
  });

  it('are not fitted again under the same rules', () => {
    const fit = createFittedSchemas();
    const first = fit(structuredClone(path), gemini, 'tools.a');
    assert.equal(fit(structuredClone(path), gemini, 'tools.b'), first);
    assert.notEqual(fit(structuredClone(path), openai, 'tools.a'), first);
    assert.notEqual(fit({ ...structuredClone(path), title: 'x' }, gemini, 'tools.a'), first);
  });

  it('are removed when there are too many, the least recently used ones first', () => {
    const size = JSON.stringify(path).length + 20;
    const fit = createFittedSchemas(2 * size);
    const numbered = (title: number): JsonObject => ({ ...structuredClone(path), title: String(title) });
    const fitted = (of: FitSchema, title: number) => of(numbered(title), gemini, 'a');
    const [one, two] = [fitted(fit, 1), fitted(fit, 2)];
    assert.equal(fitted(fit, 1), one);
    fitted(fit, 3);
    assert.equal(fitted(fit, 1), one);
    assert.notEqual(fitted(fit, 2), two);
  });

  it('are refused under the name of their own tool each time, also if they are too deep to be written', () => {
    const fit = createFittedSchemas();
    for (const depth of [300, 200_000]) {
      let deep: JsonObject = { type: 'string' };
      for (let level = 0; level < depth; level += 1) deep = { type: 'array', items: deep };
      for (const tool of ['tools.a', 'tools.b'])
        assert.throws(() => fit(deep, gemini, tool), { code: 'invalid_request', param: tool });
    }
  });
});
