import type { Setting } from './queries.ts';

/** How a setting is edited, by what `config.json` may have for it. */
export type SettingInput =
  | { kind: 'choice'; choices: string[] }
  | { kind: 'switch' }
  | { kind: 'number'; min: number | null; max: number | null; mayBeNone: boolean }
  | { kind: 'text' }
  | { kind: 'lines' }
  | { kind: 'json' };

interface Schema {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  anyOf?: Schema[];
  items?: Schema;
}

/** Bounds beyond this are none that a person would meet. */
const UNBOUNDED = Number.MAX_SAFE_INTEGER;

export function inputOf({ allowed }: Pick<Setting, 'allowed'>): SettingInput {
  const whole = Object(allowed) as Schema;
  const branches = whole.anyOf ?? [whole];
  const schema = branches.find(({ type }) => type !== 'null') ?? {};
  const mayBeNone = branches.some(({ type }) => type === 'null');
  if (schema.enum !== undefined) return { kind: 'choice', choices: schema.enum.map(String) };
  switch (schema.type) {
    case 'boolean':
      return { kind: 'switch' };
    case 'integer':
    case 'number': {
      const { maximum = UNBOUNDED, minimum = -UNBOUNDED } = schema;
      return {
        kind: 'number',
        min: minimum > -UNBOUNDED ? minimum : null,
        max: maximum < UNBOUNDED ? maximum : null,
        mayBeNone,
      };
    }
    case 'string':
      return { kind: 'text' };
    case 'array':
      return schema.items?.type === 'object' ? { kind: 'json' } : { kind: 'lines' };
    default:
      return { kind: 'json' };
  }
}

/** A value as it stands in its field. */
export function textOf(value: unknown, { kind }: SettingInput): string {
  if (value === null || value === undefined) return '';
  if (kind === 'lines' && Array.isArray(value)) return value.join('\n');
  if (kind === 'json') return JSON.stringify(value, null, 2);
  return String(value);
}

/** What a field's text stands for. @throws SyntaxError for text that is no JSON where JSON is needed */
export function parseSetting(text: string, { kind }: SettingInput): unknown {
  const trimmed = text.trim();
  switch (kind) {
    case 'switch':
      return trimmed === 'true';
    case 'number':
      // What is no number is sent as it is, for the gateway says best what is wrong with it.
      return trimmed === '' ? null : Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
    case 'lines':
      return trimmed.split(/\s*\n\s*/).filter((line) => line !== '');
    case 'json':
      return JSON.parse(trimmed);
    default:
      return trimmed;
  }
}
