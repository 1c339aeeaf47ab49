import { GatewayError } from '../../lib/error.ts';
import type { Path } from '../files/path.ts';

/** A step: `name`, `"a name with. dots"` or `[key=value]`. */
const step = /(?:^|\.)(?:"((?:[^"\\]|\\.)*)"|([^."[\]=]+))|\[([^[\]=]+)=([^[\]]+)\]/y;

/**
 * A path as people write it: `provider.options.baseURL`, `models[name=Modelgate].model`, `"key.with.dots".x`.
 * @throws GatewayError `invalid_request` that names what cannot be read
 */
export function settingPath(text: string): Path {
  const path: (string | { key: string; equals: string })[] = [];
  step.lastIndex = 0;
  let end = 0;
  while (end < text.length) {
    const match = text.startsWith('.') ? null : step.exec(text);
    if (match === null)
      throw new GatewayError(
        'invalid_request',
        `The path "${text.slice(0, 100)}" cannot be read from "${text.slice(end, end + 20)}" on: write names with dots between them, "names in quotes" and [key=value] for an item of a list`,
        { param: 'file' },
      );
    end = step.lastIndex;
    const [, quoted, name, key, equals] = match;
    if (key !== undefined && equals !== undefined) path.push({ key, equals });
    else path.push(quoted === undefined ? (name ?? '') : quoted.replace(/\\(.)/g, '$1'));
  }
  return path;
}
