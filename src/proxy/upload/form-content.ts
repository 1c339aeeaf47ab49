import { isUtf8 } from 'node:buffer';
import { type FormPiece, FormScanner } from '../../http/body/multipart.ts';
import type { FormPart } from '../../http/body/multipart-head.ts';
import { GatewayError } from '../../lib/error.ts';
import { foldedField, isChoosing } from '../json/model-fields.ts';

/** A form in its order: bytes to pass on, and the value of its one field `model`. */
export type FormContent =
  | { kind: 'bytes'; bytes: Buffer }
  /** `length`: in bytes, as it was sent. */
  | { kind: 'model'; value: string; length: number };

/** Names of models are short. */
const MAX_MODEL_BYTES = 1_024;

/** Finds the field `model` of a form while it passes. */
export class FormContents {
  readonly #scanner: FormScanner;
  #hasModel = false;
  /** What came of the value so far, while it comes. */
  #value: Buffer[] | null = null;
  #valueBytes = 0;

  constructor(boundary: string) {
    this.#scanner = new FormScanner(boundary);
  }

  /** @throws GatewayError `invalid_request`, `missing_model`, `duplicate_field` */
  push(chunk: Buffer): FormContent[] {
    return this.#scanner.push(chunk).flatMap((piece) => this.#take(piece));
  }

  /** @throws GatewayError `invalid_request` for a form that is not complete, `missing_model` */
  end(): void {
    this.#scanner.end();
    if (!this.#hasModel)
      throw new GatewayError(
        'missing_model',
        'The form has no field "model": add one, e.g. openai/whisper-1',
        {
          param: 'model',
        },
      );
  }

  #take(piece: FormPiece): FormContent[] {
    if (piece.kind === 'part') {
      if (isModelField(piece.part.name)) this.#begin(piece.part);
      return [];
    }
    if (this.#value === null) return [piece].map(({ bytes }) => ({ kind: 'bytes', bytes }));
    if (piece.kind === 'data') {
      this.#value.push(piece.bytes);
      this.#valueBytes += piece.bytes.length;
      if (this.#valueBytes > MAX_MODEL_BYTES) throw badModel('is too long');
      return [];
    }
    const bytes = Buffer.concat(this.#value);
    this.#value = null;
    return [modelIn(bytes), { kind: 'bytes', bytes: piece.bytes }];
  }

  #begin(part: FormPart): void {
    if (part.name !== 'model')
      throw new GatewayError(
        'ambiguous_model',
        'The form has a field by which some servers run another model than "model" names: leave it out',
        {
          param: part.name.slice(0, 100),
        },
      );
    // An upstream that takes the last of two would be asked for another model than was checked.
    if (this.#hasModel) {
      throw new GatewayError('duplicate_field', 'The form names "model" twice: send it once', {
        param: 'model',
      });
    }
    if (part.filename !== null || part.encoded)
      throw badModel('must be a plain field, not a file or encoded');
    this.#hasModel = true;
    this.#value = [];
  }
}

/** `Model` is the same field to servers that do not regard case, and `model[]` to those that read lists of fields. */
function isModelField(name: string): boolean {
  const [field = ''] = foldedField(name).split('[', 1);
  return field === 'model' || isChoosing(field);
}

function modelIn(bytes: Buffer): FormContent {
  const value = bytes.toString('utf8');
  if (bytes.length === 0) {
    throw new GatewayError('missing_model', '"model" is empty: name one, e.g. openai/whisper-1', {
      param: 'model',
    });
  }
  if (!isUtf8(bytes) || /[\u0000-\u001f\u007f]/.test(value))
    throw badModel('holds characters that no name has');
  return { kind: 'model', value, length: bytes.length };
}

function badModel(problem: string): GatewayError {
  return new GatewayError('invalid_request', `The field "model" ${problem}`, { param: 'model' });
}
