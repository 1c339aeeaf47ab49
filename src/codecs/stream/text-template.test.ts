import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { parseObject } from '../json/values.ts';
import { reader } from '../openai-chat/answer/reader.ts';
import { TextTemplate } from './text-template.ts';

/** The text of `{"text":…}` whatever stands beside it. */
function textOf(data: string): string | null {
  const value = parseObject(data)?.['text'];
  return typeof value === 'string' ? value : null;
}

function templateOf(data: string): TextTemplate {
  const template = new TextTemplate(textOf);
  template.learn(data);
  return template;
}

describe('a template of records with text', () => {
  const template = templateOf('{"id":"a","text":"a","end":null}');
  const cases: [string, string, string | null][] = [
    ['other words', '{"id":"a","text":"b c","end":null}', 'b c'],
    ['no words', '{"id":"a","text":"","end":null}', ''],
    ['escapes', '{"id":"a","text":"\\n\\"\\u00e9\\ud83d","end":null}', '\n"é\ud83d'],
    ['letters of any script', '{"id":"a","text":"東京 é","end":null}', '東京 é'],
    ['another field before it', '{"id":"b","text":"b","end":null}', null],
    ['another field behind it', '{"id":"a","text":"b","end":1}', null],
    ['a field between', '{"id":"a","text":"b","text":"c","end":null}', null],
    ['a quote that is no end', '{"id":"a","text":"b"c","end":null}', null],
    ['a wrong escape', '{"id":"a","text":"\\x","end":null}', null],
    ['an escaped end', '{"id":"a","text":"\\","end":null}', null],
    ['a raw control character', '{"id":"a","text":"b\tc","end":null}', null],
    ['less than the template', '{"id":"a","text":","end":null}', null],
  ];
  for (const [what, data, text] of cases)
    it(`reads ${what}`, () => assert.equal(template.textIn(data), text));

  it('matches nothing before it has learned a record, and learns only records with plain text', () => {
    for (const data of [
      '{"id":1}',
      '{"text":""}',
      '{"text":"a\\n"}',
      'no JSON',
      '{"text":"\\u0061","a":"a"}',
    ])
      assert.equal(templateOf(data).textIn(data), null, data);
  });

  it('does not match the same text in another place', () => {
    for (const data of ['{"text":"a","b":"a"}', '{"b":"a","text":"a"}', '{"text":"a","text":"a"}']) {
      const template = templateOf(data);
      for (const other of [data, data.replace('"a"', '"z"'), data.replace(/"a"(?=})/, '"z"')])
        assert.ok([textOf(other), null].includes(template.textIn(other)), other);
    }
  });
});

describe('the chat reader', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc.string({ unit: 'binary', maxLength: 4 }),
    fc.constantFrom('a', 'a', '"', '\\', '","content":"b', '\n', 'a"}', '\ud800', 'stop', 'error'),
  );
  /** A JSON string, spelled in one of several ways, or broken. */
  const literal = fc
    .tuple(text, fc.constantFrom('plain', 'plain', 'plain', 'escaped', 'raw'))
    .map(([words, how]) => {
      if (how === 'raw') return `"${words}"`;
      const plain = JSON.stringify(words);
      return how === 'plain'
        ? plain
        : `"${[...words].map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`;
    });
  const chunk = fc
    .tuple(
      literal,
      fc.constantFrom(
        '',
        '',
        '',
        '',
        '"role":"assistant",',
        '"content":"z",',
        '"refusal":"no",',
        '"tool_calls":[],',
      ),
      fc.constantFrom(
        '',
        '',
        '',
        ',"reasoning_content":"hm"',
        ',"content":"y"',
        ',"tool_calls":[{"index":0,"function":{"name":"f"}}]',
      ),
      fc.constantFrom(
        '',
        '',
        '',
        '',
        ',"finish_reason":null',
        ',"finish_reason":"stop"',
        ',"usage":{"prompt_tokens":1}',
      ),
      fc.constantFrom(
        '',
        '',
        '',
        ',"usage":null',
        ',"service_tier":"a"',
        ',"service_tier":"b"',
        ',"usage":{"prompt_tokens":1,"completion_tokens":2}',
        ',"error":null',
        ',"error":{"message":"a"}',
      ),
      fc.constantFrom('', '', '', ' ', '\n', '\ufeff'),
    )
    .map(
      ([content, before, behind, choice, rest, space]) =>
        `${space}{"id":"a","choices":[{"index":0,"delta":{${before}"content":${content}${behind}}${choice}}]${rest}}`,
    );
  const stream = fc.array(
    fc.oneof({ weight: 12, arbitrary: chunk }, fc.constantFrom('[DONE]', '', '{}', '[]')),
    {
      maxLength: 12,
    },
  );

  it('reads every stream alike with and without a template', () => {
    fc.assert(
      fc.property(stream, (records) => {
        const [quick, full] = [reader(), reader()];
        for (const data of records) {
          // The name of an event means nothing here, and no template is used for records that have one.
          assert.deepEqual(quick.push({ event: '', data }), full.push({ event: 'message', data }), data);
        }
        assert.deepEqual(quick.end(), full.end());
      }),
      { numRuns: 3_000 },
    );
  });

  it('reads text records without JSON.parse after the first one', () => {
    const source = reader();
    const record = (content: string) => ({
      event: '',
      data: `{"choices":[{"index":0,"delta":{"content":${content}},"finish_reason":null}]}`,
    });
    for (const content of ['"a"', '"b"', '"c"']) source.push(record(content));
    const parse = JSON.parse;
    try {
      JSON.parse = () => assert.fail('parsed');
      assert.deepEqual(source.push(record('"d"')), [{ type: 'text-delta', block: 0, text: 'd' }]);
    } finally {
      JSON.parse = parse;
    }
  });
});
