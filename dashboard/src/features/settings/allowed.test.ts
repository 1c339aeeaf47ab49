import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inputOf, parseSetting, textOf } from './allowed.ts';

const schemas = {
  level: { type: 'string', enum: ['debug', 'info'] },
  flag: { type: 'boolean' },
  hours: { anyOf: [{ type: 'integer', minimum: 1, maximum: 8784 }, { type: 'null' }] },
  hosts: { type: 'array', items: { type: 'string' } },
  rules: { type: 'array', items: { type: 'object' } },
};

describe('the field of a setting', () => {
  it('has the control that its schema asks for', () => {
    const kinds = Object.values(schemas).map((allowed) => inputOf({ allowed }).kind);
    assert.deepEqual(kinds, ['choice', 'switch', 'number', 'lines', 'json']);
    assert.deepEqual(inputOf({ allowed: schemas.hours }), {
      kind: 'number',
      min: 1,
      max: 8784,
      mayBeNone: true,
    });
  });

  it('returns the value that was put into it', () => {
    const values: [keyof typeof schemas, unknown][] = [
      ['level', 'info'],
      ['flag', false],
      ['hours', 24],
      ['hours', null],
      ['hosts', ['a', 'b']],
      ['rules', [{ when: {} }]],
    ];
    for (const [name, value] of values) {
      const input = inputOf({ allowed: schemas[name] });
      assert.deepEqual(parseSetting(textOf(value, input), input), value);
    }
  });
});
