import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '../json/values.ts';
import { fitSchema } from './fit.ts';
import { rulesFor } from './targets.ts';

const geminiJson = rulesFor('gemini', 'full');
const fitted = (schema: JsonObject) => fitSchema(schema, geminiJson, 'tools.a');
const text = { type: 'string' };

describe('a recursive schema in Google’s JSON Schema', () => {
  const node = {
    type: 'object',
    properties: { value: text, next: { $ref: '#/$defs/Node', description: 'The rest' } },
    required: ['value'],
  };

  it('keeps its references to itself, which have no other keywords beside them', () => {
    const { lost, schema } = fitted({
      type: 'object',
      properties: { list: { $ref: '#/$defs/Node' }, other: { $ref: '#/$defs/Plain' } },
      $defs: { Node: node, Plain: text },
    });
    assert.deepEqual(schema, {
      type: 'object',
      properties: { list: { $ref: '#/$defs/Node' }, other: text },
      $defs: { Node: { ...node, properties: { value: text, next: { $ref: '#/$defs/Node' } } } },
    });
    assert.deepEqual(lost, []);
  });

  it('is recognized by any path, and at the root', () => {
    const { schema } = fitted({
      $ref: '#/definitions/Node',
      definitions: { Node: { ...node, properties: { value: text, next: { $ref: '#/definitions/Node' } } } },
    });
    const own = { ...node, properties: { value: text, next: { $ref: '#/$defs/Node' } } };
    assert.deepEqual(schema, { ...own, $defs: { Node: own } });
    const { schema: tree } = fitted({ type: 'object', properties: { left: { $ref: '#' } } });
    const within = { type: 'object', properties: { left: { $ref: '#/$defs/Root' } } };
    assert.deepEqual(tree, { ...within, $defs: { Root: within } });
  });

  it('is expanded to a limited depth if an object requires the one inside it', () => {
    const { lost, schema } = fitted({
      type: 'object',
      properties: { list: { $ref: '#/$defs/Node' } },
      $defs: { Node: { ...node, required: ['value', 'next'] } },
    });
    assert.doesNotMatch(JSON.stringify(schema), /\$ref|\$defs/);
    assert.deepEqual(lost, ['$ref']);
  });

  it('is expanded for Google’s older schema language', () => {
    const chat = rulesFor('openai-chat', 'gemini-chat');
    const { schema } = fitSchema(
      { type: 'object', properties: { list: { $ref: '#/$defs/Node' } }, $defs: { Node: node } },
      chat,
      'tools.a',
    );
    assert.doesNotMatch(JSON.stringify(schema), /\$ref|\$defs/);
  });
});
