import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { z } from 'zod';
import { schemaText } from './json-schema.ts';
import { schemaName, schemaOf } from './paths.ts';
import { type ApiDocument, renderReference } from './reference.ts';

describe('a schema in words', () => {
  const cases: readonly (readonly [z.ZodType, string])[] = [
    [z.string().nullable(), 'string or null'],
    [z.int(), 'integer'],
    [z.iso.datetime().nullable(), 'time or null'],
    [z.enum(['on', 'off']).nullable(), '"on" or "off" or null'],
    [z.literal('http'), '"http"'],
    [z.array(z.object({ name: z.string(), size: z.int() })), 'list of {name: string, size: integer}'],
    [z.array(z.string().nullable()), 'list of (string or null)'],
    [z.array(z.unknown()), 'list'],
    [z.object({ code: z.string() }).nullable(), '{code: string} or null'],
    [z.record(z.string(), z.unknown()), 'object'],
    [z.unknown(), 'anything'],
  ];
  for (const [schema, text] of cases)
    it(`says ${text}`, () => {
      const member = schemaOf(z.object({ member: schema }), 'output').properties?.['member'];
      assert.equal(schemaText(member ?? {}), text);
    });

  it('names what it refers to', () => {
    assert.equal(schemaText({ $ref: '#/components/schemas/Key' }), 'Key');
  });
});

describe('the reference for people', () => {
  const at = z.object({ at: z.iso.datetime().nullable() });
  const document: ApiDocument = {
    openapi: '3.1.0',
    servers: [],
    security: [],
    paths: {},
    info: {
      title: 'T',
      version: '1',
      summary: '',
      description: '',
      license: { name: '', identifier: '' },
      contact: { name: '', url: '' },
    },
    tags: [{ name: 'keys', description: 'Keys' }],
    components: {
      schemas: { Key: schemaOf(at, 'output'), KeyPart: schemaOf(at, 'output'), Part: schemaOf(at, 'output') },
    },
  };

  it('shows no pattern of a time, and each record once', () => {
    const page = renderReference({ document, search: '' });
    assert.match(page, /<td><code>at<\/code><\/td><td>time or null<\/td>/);
    assert.doesNotMatch(page, /anyOf|pattern|<h3>KeyPart/);
    assert.match(page, /<h3>Key<[\s\S]*<h3>Part</);
  });
});

it('a record has the name of one member of its collection', () => {
  const names = ['aliases', 'keys', 'services', 'quota', 'audit'].map((name) => schemaName({ name }));
  assert.deepEqual(names, ['Alias', 'Key', 'Service', 'Quota', 'Audit']);
});
