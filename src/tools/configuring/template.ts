import type { Path } from '../files/path.ts';
import { isObject, type Json } from '../files/value.ts';
import { keyVariable, type Setting } from '../tool.ts';

/** What stands for the placeholders of a recipe. Null is not given. */
export interface Values {
  base_url: string;
  api_key: string | null;
  model: string | null;
}

const placeholder = /<(base_url|api_key|key_variable|model)>/g;

/** The setting with its placeholders filled in, or null when it needs something that is not given. */
export function filledSetting(
  { ifAbsent = false, path, value }: Setting,
  values: Values,
): Required<Setting> | null {
  if (!complete(JSON.stringify([path, value]), values)) return null;
  return { path: filledPath(path, values), value: filled(value, values), ifAbsent };
}

export function filledPath(path: Path, values: Values): Path {
  return path.map((step) =>
    typeof step === 'string'
      ? filledText(step, values)
      : { ...step, equals: filledText(step.equals, values) },
  );
}

/** Whether a setting takes its value from this placeholder. */
export function uses(setting: Pick<Setting, 'path' | 'value'>, name: keyof Values): boolean {
  return JSON.stringify(setting.value).includes(`<${name}>`);
}

function complete(template: string, { api_key, model }: Values): boolean {
  if (api_key === null && template.includes('<api_key>')) return false;
  return model !== null || !template.includes('<model>');
}

function filled(value: Json, values: Values): Json {
  if (typeof value === 'string') return filledText(value, values);
  if (Array.isArray(value)) return value.map((item) => filled(item, values));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [filledText(key, values), filled(item, values)]),
  );
}

/** In one pass: what is filled in is never looked at again. */
export function filledText(text: string, values: Values): string {
  return text.replace(placeholder, (whole, name: string) => {
    if (name === 'key_variable') return keyVariable;
    if (name === 'base_url') return values.base_url;
    return (name === 'api_key' ? values.api_key : values.model) ?? whole;
  });
}
