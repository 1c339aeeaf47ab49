import { GatewayError } from '../../lib/error.ts';
import { joined } from '../json/joined.ts';
import { findModel } from '../json/splice.ts';

export interface RequestedModel {
  value: string;
  /** Where the JSON string literal of the value stands, in the first piece. */
  start: number;
  end: number;
  /** The body; joined into one piece when the model does not stand in the first. */
  pieces: readonly Buffer[];
}

/**
 * The model that a request names first, found without parsing its body. Whether it is the only one says
 * `model-fields.ts`.
 * @throws GatewayError `invalid_json`, `missing_model`
 */
export function requestedModel(body: readonly Buffer[]): RequestedModel {
  const first = body[0];
  if (first === undefined || first.length === 0) {
    throw new GatewayError('invalid_json', 'The request body is empty: send a JSON object with a "model"');
  }
  let pieces = body;
  let search = findModel(first);
  if (!search.ok && body.length > 1) {
    pieces = [joined(body)];
    search = findModel(joined(pieces));
  }
  const whole = pieces[0] ?? first;
  if (!search.ok) throw notFound(search.reason, whole);
  if (search.value === '')
    throw new GatewayError('missing_model', '"model" is empty: name one, e.g. demo/echo', { param: 'model' });
  return { value: search.value, start: search.start, end: search.end, pieces };
}

function notFound(reason: 'not-object' | 'no-model' | 'not-string', body: Buffer): GatewayError {
  const syntax = syntaxError(body);
  if (syntax !== null)
    return new GatewayError('invalid_json', `The request body is not valid JSON: ${syntax}`);
  switch (reason) {
    case 'not-object':
      return new GatewayError('invalid_json', 'The request body must be a JSON object');
    case 'no-model':
      return new GatewayError(
        'missing_model',
        'The request names no "model": add one, e.g. "model": "demo/echo"',
        { param: 'model' },
      );
    case 'not-string':
      return new GatewayError('missing_model', '"model" must be a string, e.g. "demo/echo"', {
        param: 'model',
      });
  }
}

/** What is wrong with the JSON, for the error alone; null when nothing is. Positions only, no content. */
function syntaxError(body: Buffer): string | null {
  try {
    JSON.parse(body.toString('utf8'));
    return null;
  } catch (error) {
    const position = /at position \d+(?: \(line \d+ column \d+\))?/.exec((error as Error).message)?.[0];
    return position === undefined ? 'it ends too early or is damaged' : `unexpected character ${position}`;
  }
}
