import type { Concept } from '../model/concept.ts';

/** `gpt-5`, `gpt-5.4-mini`, `gpt-6-luna`, `o3`, `o4-mini`; not `gpt-5-chat-latest`, and no open model (`gpt-oss`). */
const reasons = /(^|\/)(o\d|gpt-([5-9]|\d\d)(?!.{0,100}-chat))/;
/** Its models that came before reasoning. */
const doesNotReason = /(^|\/)(gpt-[34]|chatgpt-4|gpt-[5-9].{0,100}-chat)/;

/**
 * The concepts that a model of OpenAI refuses, by its name: reasoning models refuse sampling ("Reasoning models",
 * limitations), the others refuse effort. Models of other vendors refuse nothing.
 */
export function unsupportedBy(model: string): readonly Concept[] {
  const name = model.toLowerCase();
  if (doesNotReason.test(name)) return ['reasoning', 'verbosity'];
  return reasons.test(name) ? ['temperature', 'topP', 'stop', 'frequencyPenalty', 'presencePenalty'] : [];
}
