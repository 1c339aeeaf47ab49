/** What is known of what a model takes beside text; a member that is missing is not known. */
export interface Abilities {
  tools?: boolean;
  images?: boolean;
}

/**
 * Families of models by what their makers' model pages say of them. Only what decides about a request is here: a model
 * that is in no row may be able to do anything. The first row that fits counts, for the id without what stands before
 * its last slash.
 */
const families: readonly (readonly [RegExp, Abilities])[] = [
  [/^claude-(?:2|instant)/, { tools: false, images: false }],
  [/^claude-/, { tools: true, images: true }],
  [/^o1-(?:mini|preview)/, { tools: false, images: false }],
  [/^gpt-3\.5-turbo-instruct/, { tools: false, images: false }],
  [/^(?:gpt-3\.5|o3-mini|gpt-oss-)/, { images: false }],
  [/^gpt-4(?:-32k)?(?:-0314|-0613)?$/, { images: false }],
  [/^gpt-[45].*(?:audio|realtime|transcribe|tts|search|image|spark)/, {}],
  [/^(?:gpt-4o|gpt-4\.1|gpt-4-turbo|gpt-5)/, { tools: true, images: true }],
  [/^gemini-(?:1\.5|[23])(?!.*(?:tts|embedding|image|live|audio))/, { tools: true, images: true }],
  [/^deepseek-(?:chat|reasoner|r1|v3)/, { images: false }],
  [/^(?:meta-)?llama-?3(?:\.[13])?(?![.\d])(?!.*vision)/, { images: false }],
  [/^kimi-k2(?![.\d])/, { images: false }],
  [/^glm-4\.[567](?!v)/, { images: false }],
  [/^qwen3-coder/, { images: false }],
  [/^(?:mixtral|codestral)-/, { images: false }],
];

/** What is known of a model by its id alone, wherever it is offered. */
export function abilitiesOf(model: string): Abilities {
  const id = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return families.find(([family]) => family.test(id))?.[1] ?? {};
}
