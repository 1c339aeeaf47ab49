/**
 * Fewest tokens of a prompt that the vendor keeps in its cache, by model. Source: "Prompt caching" of Anthropic's
 * documentation, section "Cache limitations", as of October 2026. Amazon asks for more of some models; a mark on a prompt
 * that is too short costs nothing, so the vendor's own numbers do.
 */
const minimums: readonly { tokens: number; models: readonly string[] }[] = [
  { tokens: 4096, models: ['opus-4-6', 'opus-4-5', 'haiku-4-5'] },
  { tokens: 2048, models: ['opus-4-7', 'mythos-preview', '3-5-haiku', 'haiku-3-5', '3-haiku'] },
  {
    tokens: 1024,
    models: [
      'opus-4-8',
      'sonnet-5',
      'sonnet-4-6',
      'sonnet-4-5',
      'sonnet-4',
      'opus-4-1',
      'opus-4',
      '3-7-sonnet',
      '3-5-sonnet',
      '3-opus',
    ],
  },
  {
    tokens: 512,
    models: [
      'opus-5',
      'opus-5-5',
      'sonnet-5-5',
      'haiku-5-5',
      'fable-5',
      'fable-5-1',
      'mythos-5',
      'mythos-5-1',
    ],
  },
];

/** For a model that is not in the table: another vendor's, or an alias. */
const LEAST = 512;

const PREFIX = 'claude-';
/** Looked for first, for it is in few names. */
const ANTHROPIC = /claude-/i;

const byModel: readonly (readonly [name: string, tokens: number])[] = minimums
  .flatMap(({ models, tokens }) => models.map((name) => [PREFIX + name, tokens] as const))
  .sort(([a], [b]) => b.length - a.length);

/** Fewest tokens that are kept. `anthropic/claude-opus-4.5` and `us.anthropic.claude-opus-4-5-v1:0` are the same model. */
export function leastCached(model: string): number {
  if (!ANTHROPIC.test(model)) return LEAST;
  const name = model.toLowerCase().replaceAll('.', '-');
  return byModel.find(([modelName]) => isModel(name, modelName))?.[1] ?? LEAST;
}

/** Whether `name` has the name of the model in it, and no further number of a version behind it. */
function isModel(name: string, modelName: string): boolean {
  const at = name.indexOf(modelName);
  return at !== -1 && !/^-?\d{1,2}(?!\d)/.test(name.slice(at + modelName.length));
}
