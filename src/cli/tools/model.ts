import type { Tool } from '../../tools/tool.ts';
import type { Context } from '../context.ts';
import { failure, usageError } from '../terminal/failure.ts';
import type { GatewayFacts } from './gateway-facts.ts';

/** The most models that an error lists. */
const NAMED = 8;

/**
 * The model that a tool is set to: the given one, or one of the gateway's list where the tool needs one.
 * @throws a failure where one is needed and there is no terminal to ask at
 */
export async function chosenModel(
  tool: Tool,
  flagValue: string | null,
  { models }: GatewayFacts,
  { io }: Context,
): Promise<string | null> {
  if (flagValue !== null || tool.recipe.model === 'optional') return flagValue;
  const modelIds = models ?? [];
  if (!io.interactive || modelIds.length === 0)
    throw usageError(`${tool.name} needs a model: repeat with --model MODEL${someOf(modelIds)}`);
  const choices = modelIds.map((id) => ({ value: id, label: id }));
  const model = await io.ask.choose(`Which model should ${tool.name} use?`, choices);
  if (model === null) throw failure(1, 'cancelled', 'Cancelled, nothing was changed.');
  return model;
}

function someOf(models: readonly string[]): string {
  if (models.length === 0) return ', e.g. --model auto';
  const more = models.length > NAMED ? ` and ${models.length - NAMED} more` : '';
  return `. There are ${models.slice(0, NAMED).join(', ')}${more}`;
}
