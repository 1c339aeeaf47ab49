import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { withinCpu } from '../../../test/support/machine/cpu.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { isObject, type JsonObject, objectOf } from '../json/values.ts';
import { fitSchema } from './fit.ts';
import { restoreArguments } from './restore.ts';
import { accepts, type SchemaRules } from './rules.ts';
import { isStrict } from './strict.ts';
import { type SchemaRuleName, schemaRules } from './targets.ts';

/** To write the files anew after a change: UPDATE_GOLDEN=1, then look at the difference. */
const update = process.env['UPDATE_GOLDEN'] === '1';
const folder = join(import.meta.dirname, 'golden');
const names = Object.keys(schemaRules) as SchemaRuleName[];
const narrow = names.filter((name) => name !== 'full');
const fit = (schema: JsonObject, name: SchemaRuleName) => fitSchema(schema, schemaRules[name], 'tools.t');

/** Plans have maps, which JSON does not know. */
const plain = (_: string, value: unknown) => (value instanceof Map ? Object.fromEntries(value) : value);

describe('schemas of real tools', () => {
  for (const file of readdirSync(folder).sort()) {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    const { origin, schema } = JSON.parse(text);
    it(file.replace('.json', ''), () => {
      const fitted = names.map((name) => {
        const { lost, plan, schema: result } = fit(schema, name);
        const same = JSON.stringify(result) === JSON.stringify(schema);
        return [name, { lost, ...(plan === null ? {} : { plan }), schema: same ? 'unchanged' : result }];
      });
      const whole = { origin, schema, fitted: Object.fromEntries(fitted) };
      const actual = `${JSON.stringify(whole, plain, 2)}\n`;
      if (update) writeFileSync(path, actual);
      assert.equal(actual, readFileSync(path, 'utf8'));
    });
  }
});

/** Schemas in keyword positions, found by the specification and not by the code under test. */
function* schemasIn(schema: unknown): Generator<JsonObject> {
  if (!isObject(schema)) return;
  yield schema;
  for (const [key, value] of Object.entries(schema)) {
    if (['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'].includes(key))
      for (const inner of Object.values(objectOf(value))) yield* schemasIn(inner);
    else if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(key) && Array.isArray(value))
      for (const inner of value) yield* schemasIn(inner);
    else if (
      ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'].includes(
        key,
      )
    )
      yield* schemasIn(value);
  }
}

const scalar = fc.constantFrom<unknown>('a', 'b', 1, 2, 2.5, true, null, '1');
const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null', 'STRING', 'odd'];
const property = fc.constantFrom('a', 'b', 'type', 'properties', '$ref', '__proto__', 'required', 'items');
const { schema: anySchema } = fc.letrec<{ schema: unknown; object: JsonObject }>((tie) => {
  const inner = fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.boolean(), tie('schema'));
  const map = fc
    .array(fc.tuple(property, inner), { maxLength: 3 })
    .map((entries) => Object.fromEntries(entries) as JsonObject);
  const object = fc
    .record(
      {
        type: fc.oneof(
          fc.constantFrom<unknown>(...types),
          fc.subarray(types, { minLength: 1, maxLength: 3 }),
        ),
        description: fc.constantFrom<unknown>('words', 5),
        properties: fc.oneof({ arbitrary: map, weight: 9 }, { arbitrary: scalar, weight: 1 }),
        required: fc.oneof(fc.array(property, { maxLength: 3 }), scalar),
        items: fc.oneof(inner, fc.array(inner, { maxLength: 2 })),
        prefixItems: fc.array(inner, { maxLength: 2 }),
        additionalProperties: inner,
        anyOf: fc.array(inner, { maxLength: 3 }),
        oneOf: fc.array(inner, { maxLength: 3 }),
        allOf: fc.array(inner, { maxLength: 3 }),
        not: inner,
        enum: fc.array(scalar, { maxLength: 4 }),
        const: scalar,
        $ref: fc.constantFrom<unknown>('#', '#/$defs/a', '#/$defs/b', '#/properties/a', 'other.json', 7),
        $defs: map,
        nullable: fc.constantFrom<unknown>(true, false, 'x'),
        minimum: scalar,
        exclusiveMinimum: scalar,
        maxLength: scalar,
        pattern: scalar,
        format: scalar,
        uniqueItems: scalar,
        default: scalar,
        $schema: scalar,
      },
      { requiredKeys: [] },
    )
    .map((record) => JSON.parse(JSON.stringify(record)) as JsonObject);
  return {
    object,
    schema: fc.oneof({ maxDepth: 2 }, fc.constant({}), object),
  };
});
const schema = anySchema.filter(isObject);

function assertFit(result: JsonObject, rules: SchemaRules): void {
  for (const one of schemasIn(result)) {
    for (const key of Object.keys(one)) assert.ok(accepts(rules, key), `${key} in ${JSON.stringify(result)}`);
    if (rules.types === 'one' && 'type' in one) assert.equal(typeof one['type'], 'string');
    if (rules.typed)
      assert.ok(
        ['type', 'anyOf', 'oneOf', 'allOf', '$ref'].some((key) => key in one),
        JSON.stringify(one),
      );
    if (rules.textEnums && Array.isArray(one['enum']))
      assert.ok(one['enum'].every((value) => typeof value === 'string'));
    if (rules.root === 'object' && one === result) {
      assert.equal(String(one['type']).toLowerCase(), 'object');
      for (const key of ['anyOf', 'oneOf', 'allOf', 'enum', 'not']) assert.ok(!(key in one), key);
    }
  }
}

describe('any schema', () => {
  for (const name of narrow) {
    it(`has no keyword that ${name} refuses, and does not change when it is fitted again`, () => {
      fc.assert(
        fc.property(schema, (requested) => {
          const before = JSON.stringify(requested);
          const { plan, schema: result } = fit(requested, name);
          assert.equal(JSON.stringify(requested), before, 'the client’s schema is not touched');
          assertFit(result, schemaRules[name]);
          const again = fit(result, name);
          assert.ok(
            isDeepStrictEqual(again.schema, result),
            JSON.stringify([result, again.schema]).slice(0, 2_000),
          );
          assert.deepEqual(again.lost, []);
          assert.equal(JSON.stringify(fit(requested, name).schema), JSON.stringify(result));
          if (plan !== null) assert.doesNotThrow(() => restoreArguments('{"a":["1",{"b":"2"}]}', plan));
        }),
        { numRuns: 300 },
      );
    });
  }

  it('reports once that a choice of only null may be null', () => {
    const requested = { properties: { a: { anyOf: [{ const: null }], nullable: true } } };
    const { schema: once } = fit(requested, 'gemini-chat');
    assert.deepEqual(fit(once, 'gemini-chat').schema, once);
  });

  it('keeps a choice of only nulls as it is, at any depth', () => {
    const requested = { prefixItems: [{ const: null }, { anyOf: [true, {}], const: null }], items: false };
    const { schema: once } = fit(requested, 'moonshot');
    assert.deepEqual(fit(once, 'moonshot').schema, once);
  });

  it('is unchanged under the full rules', () => {
    fc.assert(fc.property(schema, (requested) => assert.equal(fit(requested, 'full').schema, requested)));
  });
});

const refused = (schema: JsonObject, name: SchemaRuleName) => {
  try {
    fit(schema, name);
  } catch (error) {
    assert.ok(error instanceof GatewayError);
    return [error.code, error.param];
  }
  return null;
};

describe('hostile schemas', () => {
  const nested = (depth: number): JsonObject => {
    let result: JsonObject = { type: 'string' };
    for (let level = 0; level < depth; level += 1) result = { type: 'array', items: result };
    return result;
  };
  const bomb = {
    $ref: '#/$defs/d0',
    $defs: Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => {
        const next = { $ref: `#/$defs/d${(index + 1) % 40}` };
        return [
          `d${index}`,
          { type: 'object', properties: { a: next, b: next, c: { anyOf: [next, next] } } },
        ];
      }),
    ),
  };

  for (const name of narrow) {
    it(`are refused or cut in little time: ${name}`, () => {
      assert.deepEqual(refused(nested(5_000), name), ['invalid_request', 'tools.t']);
      assert.equal(refused(nested(100), name), null);
      const names = Array.from({ length: 30_000 }, (_, index) => [`p${index}`, {}]);
      assert.deepEqual(refused({ properties: Object.fromEntries(names) }, name), [
        'invalid_request',
        'tools.t',
      ]);
      for (const schema of [
        bomb,
        { anyOf: [{ $ref: '#' }, { $ref: '#' }, { $ref: '#' }] },
        { allOf: [{ $ref: '#' }, { allOf: [{ $ref: '#' }] }] },
        { $ref: '#' },
        { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } },
        { properties: { a: { $ref: '#/properties/a' }, b: { $ref: '#' } } },
        {
          allOf: Array.from({ length: 4_000 }, (_, index) => ({
            properties: { [`p${index}`]: { type: 'string' } },
          })),
        },
      ]) {
        const fitted = withinCpu(2_000, 'fitting', () => fit(schema, name).schema);
        assert.equal(JSON.stringify(fitted).length < 500_000, true);
      }
    });
  }

  it('are cut where they contain themselves, which is reported', () => {
    const node = { type: 'object', description: 'A node', properties: { next: { $ref: '#/$defs/node' } } };
    const { lost, schema } = fit(
      { properties: { list: { $ref: '#/$defs/node' } }, $defs: { node } },
      'gemini-chat',
    );
    assert.deepEqual(lost, ['$ref']);
    const stub = { type: 'object', description: 'A node' };
    const once = { ...stub, properties: { next: { ...stub, properties: { next: stub } } } };
    assert.deepEqual(schema, { type: 'object', properties: { list: once } });
  });

  it('do not change a prototype', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"properties":{"polluted":{"const":1}}}},"__proto__":{"a":1}}',
    );
    for (const name of narrow) fit(schema, name);
    assert.equal(({} as JsonObject)['polluted'], undefined);
    assert.ok(Object.hasOwn(objectOf(fit(schema, 'moonshot').schema['properties']), '__proto__'));
  });
});

describe('strict', () => {
  const open: JsonObject = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const closed = { ...open, additionalProperties: false };
  const { strictRefused } = schemaRules.openai;
  assert.ok(strictRefused !== null);
  const strict = (schema: JsonObject) => isStrict(schema, strictRefused);

  it('is possible for closed objects that require all their properties, at every level', () => {
    assert.equal(strict(closed), true);
    assert.equal(strict(open), false);
    assert.equal(strict({ ...closed, required: [] }), false);
    assert.equal(strict({ ...closed, properties: { a: { type: 'array', items: closed } } }), true);
    assert.equal(strict({ ...closed, properties: { a: { type: 'array', items: open } } }), false);
    assert.equal(strict({ ...closed, properties: { a: { anyOf: [closed, { type: 'null' }] } } }), true);
    assert.equal(strict({ ...closed, properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: open } }), false);
    assert.equal(strict({ ...closed, properties: { a: { type: 'string', format: 'uri' } } }), false);
    assert.equal(strict({ ...closed, properties: { a: { type: 'string', format: 'date' } } }), true);
    assert.equal(strict({ ...closed, properties: { a: { type: 'string', default: 'x' } } }), false);
    assert.equal(
      strict({ ...closed, properties: { default: { type: 'string' } }, required: ['default'] }),
      true,
    );
    assert.equal(strict({ ...closed, properties: { a: true } }), false);
    assert.equal(strict({ anyOf: [closed] }), false);
    assert.equal(strict({}), false);
  });
});
