import { locateFiles } from '../detection/locations.ts';
import { formats } from '../files/formats.ts';
import { pathText, resolvePath } from '../files/path.ts';
import type { Machine } from '../machine.ts';
import type { Tool } from '../tool.ts';
import { decoded } from './plan.ts';
import { filledPath, uses } from './template.ts';
import { readState } from './write-file.ts';

const noValues = { base_url: '<base_url>', api_key: null, model: null };

/** The key that stands in a tool's files where the gateway writes it; null when there is none, or no such place. */
export async function currentKey({ recipe }: Tool, machine: Machine): Promise<string | null> {
  for (const { file, path } of await locateFiles(recipe, machine)) {
    const read = formats[file.format].read(decoded((await readState(path)).bytes, path));
    if (!read.ok) continue;
    for (const setting of file.settings) {
      const place = filledPath(setting.path, noValues);
      if (!uses(setting, 'api_key') || pathText(place).includes('<')) continue;
      const { existing } = resolvePath(read.value, place);
      if (typeof existing === 'string') return existing;
    }
  }
  return null;
}

/** Whether the tool's files hold its key; else they name a variable, or the tool has no files. */
export function keepsKeyInFile({ recipe }: Tool): boolean {
  const templates = JSON.stringify(recipe.files);
  return templates.includes('<api_key>') && !templates.includes('<key_variable>');
}
