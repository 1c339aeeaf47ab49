import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldText, formEnds, formText } from '../../../test/support/clients/form.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { type FormContent, FormContents } from './form-content.ts';

const BOUNDARY = 'simple boundary';

/** The form with `model` in the place of its own, read in pieces of `size` bytes. */
function replaced(text: string, model: string, size: number): { text: string; models: FormContent[] } {
  const contents = new FormContents(BOUNDARY);
  const bytes = Buffer.from(text);
  const all: FormContent[] = [];
  for (let at = 0; at < bytes.length; at += size) all.push(...contents.push(bytes.subarray(at, at + size)));
  contents.end();
  const pieces = all.map((content) => (content.kind === 'bytes' ? content.bytes : Buffer.from(model)));
  return { text: Buffer.concat(pieces).toString(), models: all.filter(({ kind }) => kind === 'model') };
}

describe('the model of a form', () => {
  const name = fc
    .string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
    .filter((text) => !/[\u0000-\u001f\u007f]/.test(text));
  const file = fc.string({ maxLength: 200, unit: 'binary-ascii' }).filter((text) => !text.includes(BOUNDARY));

  it('is found and replaced wherever it stands and however the form is cut, and nothing else is touched', () => {
    fc.assert(
      fc.property(
        name,
        name,
        file,
        fc.boolean(),
        fc.integer({ min: 1, max: 80 }),
        (old, other, sound, last, size) => {
          const form = (model: string) =>
            last
              ? `${formEnds.before}${sound}\r\n${fieldText('model', model)}${formEnds.after.slice(2)}`
              : formText(model, sound, fieldText('language', 'de'));
          const { models, text } = replaced(form(old), other, size);
          assert.equal(text, form(other));
          assert.deepEqual(models, [{ kind: 'model', value: old, length: Buffer.byteLength(old) }]);
        },
      ),
    );
  });

  it('is not confused with another field or a file', () => {
    const more = fieldText('prompt', 'name="model"') + fieldText('model_name', 'x');
    const { models } = replaced(formText('m', 'name="model"\r\n\r\nz', more), 'n', 7);
    assert.deepEqual(
      models.map((content) => content.kind === 'model' && content.value),
      ['m'],
    );
  });

  const head = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="model"`;
  const wrong: Record<string, [form: string, code: string]> = {
    'is missing': [formText(null, 'x'), 'missing_model'],
    'is empty': [formText('', 'x'), 'missing_model'],
    'is there twice': [formText('m', 'x', fieldText('model', 'n')), 'duplicate_field'],
    'is there again in capitals': [formText('m', 'x', fieldText('Model', 'n')), 'ambiguous_model'],
    'is there again as a list': [formText('m', 'x', fieldText('model[]', 'n')), 'ambiguous_model'],
    'has a list of models beside it': [formText('m', 'x', fieldText('user_config', '{}')), 'ambiguous_model'],
    'has others beside it': [formText('m', 'x', fieldText('models', 'n')), 'ambiguous_model'],
    'is too long': [formText('m'.repeat(1025), 'x'), 'invalid_request'],
    'holds a line end': [formText('m\r\nn', 'x'), 'invalid_request'],
    'is not UTF-8': [`${head}\r\n\r\n\xff${formEnds.after}`, 'invalid_request'],
    'is a file': [`${head}; filename="m"\r\n\r\nm${formEnds.after}`, 'invalid_request'],
    'is encoded': [
      `${head}\r\nContent-Transfer-Encoding: base64\r\n\r\nbQ==${formEnds.after}`,
      'invalid_request',
    ],
  };
  for (const [what, [form, code]] of Object.entries(wrong)) {
    it(`that ${what} is refused`, () => {
      const contents = new FormContents(BOUNDARY);
      assert.throws(
        () => {
          contents.push(Buffer.from(form, 'latin1'));
          contents.end();
        },
        (error: unknown) => error instanceof GatewayError && error.code === code,
      );
    });
  }
});
