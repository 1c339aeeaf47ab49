import { GatewayError } from '../../lib/error.ts';
import type { OpenedSession } from '../protocol/schema.ts';
import type { AgentSetup } from '../setup.ts';

/** The request that sets a session's model. */
export interface ModelRequest {
  method: string;
  params: Record<string, unknown>;
}

/**
 * How a session's model is set; null where it need not be: none is wished, it has that one, or the program
 * was started with it.
 * @throws GatewayError `model_not_found` where the agent says that it has others
 */
export function modelRequest(
  { id, model: way, name, routed }: Pick<AgentSetup, 'id' | 'model' | 'name' | 'routed'>,
  { configOptions, models }: OpenedSession,
  model: string | null,
): ModelRequest | null {
  if (model === null || way.by === 'argument') return null;
  if (way.by === 'none')
    throw new GatewayError('model_not_found', `The agent ${name} takes no model: ask for acp/${id}`, {
      param: 'model',
    });
  const option = configOptions?.find(({ category, id: key }) => (category ?? key) === 'model');
  const byOption = way.by === 'config_option' && option !== undefined;
  const choices = byOption ? choicesOf(option) : models?.availableModels?.map(({ modelId }) => modelId);
  // A list of the agent's own does not contain the models of this gateway.
  const isAvailable = choices === undefined || choices.length === 0 || routed?.model === model;
  if (!isAvailable && !choices.includes(model))
    throw new GatewayError(
      'model_not_found',
      `The agent ${name} has no model "${model}": it offers ${listed(choices)}`,
      { param: 'model' },
    );
  if (byOption) {
    if (option.currentValue === model) return null;
    return { method: 'session/set_config_option', params: { configId: option.id, value: model } };
  }
  if (models?.currentModelId === model) return null;
  return { method: 'session/set_model', params: { modelId: model } };
}

type Option = NonNullable<OpenedSession['configOptions']>[number];

function choicesOf({ options }: Option): string[] {
  return (options ?? []).flatMap((one) =>
    'value' in one ? [one.value] : one.options.map(({ value }) => value),
  );
}

const MAX_LISTED = 20;

function listed(choices: readonly string[]): string {
  const more = choices.length - MAX_LISTED;
  return `${choices.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
