import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { featuresOf } from './request-features.ts';

const needs = (body: unknown, spaces = 0) => {
  const features = featuresOf([Buffer.from(JSON.stringify(body, null, spaces))]);
  return { tools: features.tools(), images: features.images() };
};

describe('what a request needs', () => {
  const tool = { type: 'function', function: { name: 'look', parameters: { properties: { image: {} } } } };
  const rows: [string, unknown, { tools: boolean; images: boolean }][] = [
    ['plain', { messages: [{ role: 'user', content: 'hi' }] }, { tools: false, images: false }],
    ['no tools in a list', { tools: [] }, { tools: false, images: false }],
    ['tools', { tools: [tool] }, { tools: true, images: false }],
    ['functions', { functions: [{ name: 'f' }] }, { tools: true, images: false }],
    [
      'an image of the chat format',
      { c: [{ type: 'image_url', image_url: {} }] },
      { tools: false, images: true },
    ],
    ['one of responses', { c: [{ image_url: 'x', type: 'input_image' }] }, { tools: false, images: true }],
    ['one of messages', { c: [{ source: {}, type: 'image' }] }, { tools: false, images: true }],
    ['one of Gemini', { parts: [{ inlineData: { data: '' } }] }, { tools: false, images: true }],
    ['one of Gemini in snake case', { parts: [{ inline_data: {} }] }, { tools: false, images: true }],
    ['one of Ollama', { messages: [{ images: ['abc'] }] }, { tools: false, images: true }],
    ['no image in a list', { messages: [{ images: [] }] }, { tools: false, images: false }],
    ['a text about them', { content: '{"tools":[{}],"type":"image"}' }, { tools: false, images: false }],
    ['a member called image', { tools: [tool], image: 'x' }, { tools: true, images: false }],
  ];
  for (const [name, body, expected] of rows) {
    it(`is detected in ${name}`, () => {
      assert.deepEqual(needs(body), expected);
      assert.deepEqual(needs(body, 2), expected, 'with white space');
    });
  }

  it('is estimated as a token for four bytes, and unknown with pictures and files', () => {
    const tokens = (body: unknown) => featuresOf([Buffer.from(JSON.stringify(body))]).tokens();
    assert.equal(tokens({ x: 'y'.repeat(3_992) }), 1_000);
    assert.equal(tokens({ c: [{ type: 'image', source: {} }] }), null);
    assert.equal(tokens({ c: [{ url: 'data:application/pdf;base64,AAAA' }] }), null);
    assert.equal(featuresOf([]).tokens(), 0);
  });

  it('is looked for in every piece of the body', () => {
    const pieces = [Buffer.from('{"a":1,'), Buffer.from('"tools":[{}]}')];
    assert.equal(featuresOf(pieces).tools(), true);
  });

  it('is found wherever a word stands in a long piece', () => {
    for (let before = 65_500; before < 65_580; before += 1) {
      const body = Buffer.from(
        JSON.stringify({ x: 'y'.repeat(before), tools: [{}], c: [{ type: 'image' }] }),
      );
      const features = featuresOf([body]);
      assert.deepEqual([features.tools(), features.images()], [true, true], `after ${before} characters`);
    }
  });
});
