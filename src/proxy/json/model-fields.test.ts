import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { refuseOtherModels } from './model-fields.ts';

function judge(text: string | Buffer, inPath: string | null = null): string {
  try {
    refuseOtherModels({ body: [Buffer.from(text)], inPath, keyName: 'ci' });
    return 'allowed';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return error.code;
  }
}

describe('a body that names its model once', () => {
  for (const text of [
    '{"model":"cheap"}',
    '{"model":"cheap","messages":[{"role":"user","content":"{\\"model\\":\\"dear\\"}"}]}',
    '{"model":"cheap","metadata":{"model":"dear","models":["dear"]}}',
    '{"model":"cheap","models":null,"fallbacks":[ ],"route":{}}',
    '{"model":"cheap","tools":[{"type":"function","function":{"name":"model","parameters":{"properties":{"model":{"type":"string"}}}}}]}',
    '{"model":"cheap","tools":[{"name":"Agent","input_schema":{"properties":{"model":{"enum":["a"]}}}}]}',
    '{"model":"cheap","reasoning_models":1,"modelx":2}',
    '{"generationConfig":{"temperature":1,"routingConfig":null}}',
    '{"model":"cheap","tools":{"model":"x"},"models":"","fallbacks":false}',
  ])
    it(`is allowed: ${text.slice(0, 70)}`, () => assert.equal(judge(text), 'allowed'));
});

describe('a body by which another model may run', () => {
  const cases: Record<string, string> = {
    '{"model":"cheap","model":"dear"}': 'duplicate_field',
    '{"model":"cheap","\\u006dodel":"dear"}': 'duplicate_field',
    '{"model":"cheap","Model":"dear"}': 'ambiguous_model',
    '{"MODEL":"dear","model":"cheap"}': 'ambiguous_model',
    '{"model":"cheap","models":["dear"]}': 'ambiguous_model',
    '{"model":"cheap","Models":["dear"]}': 'ambiguous_model',
    '{"model":"cheap","model\u017f":["dear"]}': 'ambiguous_model',
    '{"model":"cheap","fallbacks":[{"model":"dear"}]}': 'ambiguous_model',
    '{"model":"cheap","fallbacks":"default"}': 'ambiguous_model',
    '{"model":"cheap","preset":"dear"}': 'ambiguous_model',
    '{"model":"cheap","context_window_fallbacks":[{"cheap":["dear"]}]}': 'ambiguous_model',
    '{"model":"cheap","user_config":{"model_list":[]}}': 'ambiguous_model',
    '{"model":"cheap","extra_body":{"model":"dear"}}': 'ambiguous_model',
    '{"model":"cheap","providerOptions":{"gateway":{"models":["dear"]}}}': 'ambiguous_model',
    '{"model":"cheap","tools":[{"type":"advisor_20260301","name":"advisor","model":"dear"}]}':
      'ambiguous_model',
    '{"model":"cheap","tools":[{"type":"openrouter:advisor","parameters":{"\\u006dodel":"dear"}}]}':
      'ambiguous_model',
    '{"model":"cheap","model ":"dear"}': 'ambiguous_model',
    '{"model":"cheap","model\\u0000":"dear"}': 'ambiguous_model',
    '{"generationConfig":{"routingConfig":{"manualMode":{"modelName":"dear"}}}}': 'ambiguous_model',
    '{"generation_config":{"routing_config":{"autoMode":{}}}}': 'ambiguous_model',
    '{"model":"cheap"': 'invalid_json',
    '{"model":"cheap"} {"model":"dear"}': 'invalid_json',
  };
  for (const [text, code] of Object.entries(cases))
    it(`is refused as ${code}: ${text.slice(0, 70)}`, () => assert.equal(judge(text), code));

  it('is refused when it is not UTF-8 or has a NUL, which parsers read differently', () => {
    assert.equal(judge(Buffer.from('{"model":"cheap","a":"\xff"}', 'latin1')), 'invalid_json');
    assert.equal(judge('{"model":"cheap","a":"\0"}'), 'invalid_json');
  });

  it('is compared in bounded time', () => {
    const many = Array.from({ length: 1_001 }, (_, index) => `"a${index}":1`).join(',');
    assert.equal(judge(`{"model":"cheap",${many}}`), 'invalid_request');
    const tools = Array.from({ length: 10_001 }, () => '{"model":1}').join(',');
    assert.equal(judge(`{"model":"cheap","tools":[${tools}]}`), 'invalid_request');
    assert.equal(judge(`{"model":"cheap","${'\ufdfa'.repeat(500_000)}":1}`), 'allowed');
  });

  it('is refused when it contradicts the path', () => {
    assert.equal(judge('{"contents":[]}', 'gemini-2.5-flash'), 'allowed');
    assert.equal(judge('{"model":"models/gemini-2.5-flash"}', 'gemini-2.5-flash'), 'allowed');
    assert.equal(judge('{"model":"models/gemini-2.5-pro"}', 'gemini-2.5-flash'), 'ambiguous_model');
    assert.equal(judge('{"model":7}', 'gemini-2.5-flash'), 'ambiguous_model');
  });
});

describe('any JSON object that is allowed', () => {
  const names = fc.constantFrom('model', 'Model', 'MODEL', '\\u006dodel', 'models', 'fallbacks', 'n', 'x');
  const values = fc.constantFrom('"cheap"', '"dear"', '["dear"]', '[{"model":"dear"}]', 'null', '1');
  const bodies = fc
    .array(fc.tuple(names, values), { maxLength: 5 })
    .map((fields) => `{${fields.map(([name, value]) => `"${name}":${value}`).join(',')}}`);

  /** What servers of every kind would run: by the first field, by the last, and regardless of case. */
  const readings = (text: string): unknown[] => {
    const fields: [string, unknown][] = [];
    for (const [, name = '', value = ''] of text.matchAll(
      /"((?:model|Model|MODEL|\\u006dodel|models|fallbacks|n|x))":("[a-z]+"|\["dear"\]|\[\{"model":"dear"\}\]|null|1)(?=[,}])/g,
    ))
      fields.push([JSON.parse(`"${name}"`) as string, JSON.parse(value)]);
    const models = fields.filter(([name]) => name.toLowerCase() === 'model').map(([, value]) => value);
    const lists = fields
      .filter(([name, value]) => (name === 'models' || name === 'fallbacks') && value !== null)
      .map(([, value]) => value);
    return [...models, ...lists];
  };

  it('runs one model wherever it is sent', () => {
    fc.assert(
      fc.property(bodies, (text) => {
        if (judge(text) === 'allowed') assert.ok(readings(text).length <= 1, text);
      }),
      { numRuns: 3000 },
    );
  });
});
