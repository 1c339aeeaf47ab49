import { GatewayError } from '../../lib/error.ts';
import { baseUrlFor } from '../configuring/base-url.ts';
import type { Target } from '../configuring/plan.ts';
import { filledText, type Values } from '../configuring/template.ts';
import { keyVariable, type LaunchRecipe, type Tool } from '../tool.ts';
import { launchRecipes } from './launch-recipes.ts';

export interface Launch {
  environment: Record<string, string>;
  arguments: string[];
  /** Names of variables that are taken out of the inherited environment. */
  removed: readonly string[];
}

/** Secrets of the gateway itself, which no tool needs. */
const gatewaySecrets = ['STORAGE_ENCRYPTION_KEY', 'STORAGE_ENCRYPTION_KEY_OLD'];

/** How a tool is launched; null when it cannot be without writing its configuration. */
export function launchRecipeOf(tool: Tool): LaunchRecipe | null {
  const own = launchRecipes[tool.id];
  if (own !== undefined) return own;
  const { environment } = tool.recipe;
  return environment === undefined ? null : { environment, conflicts: [] };
}

/**
 * What a tool is started with.
 * @throws GatewayError `invalid_request` for a model that cannot be written into arguments, and where one is needed
 */
export function launchOf(tool: Tool, recipe: LaunchRecipe, { apiKey, model, root }: Target): Launch {
  if (model === null && tool.recipe.model === 'required')
    throw new GatewayError(
      'invalid_request',
      `${tool.name} needs a model: name one that the gateway serves`,
      { param: 'model' },
    );
  if (model !== null && /["'\\\p{Cc}]/u.test(model))
    throw new GatewayError(
      'invalid_request',
      '"model" must not have quotes, backslashes or control characters',
      {
        param: 'model',
      },
    );
  const values = { base_url: baseUrlFor(tool.recipe.api, root), api_key: apiKey, model };
  const groups = (recipe.arguments ?? []).filter((group) =>
    group.every((one) => typeof one !== 'string' || complete(one, values)),
  );
  return {
    environment: {
      ...filledEntries(recipe.environment, values),
      ...(apiKey === null ? {} : { [keyVariable]: apiKey }),
    },
    arguments: groups
      .flat()
      .map((one) =>
        typeof one === 'string'
          ? filledText(one, values)
          : JSON.stringify({ env: filledEntries(one.env, values) }),
      ),
    removed: [...recipe.conflicts, ...gatewaySecrets],
  };
}

/** The entries that can be filled in. */
function filledEntries(entries: Readonly<Record<string, string>>, values: Values): Record<string, string> {
  return Object.fromEntries(
    Object.entries(entries)
      .filter(([, template]) => complete(template, values))
      .map(([name, template]) => [name, filledText(template, values)]),
  );
}

function complete(template: string, { api_key, model }: Values): boolean {
  if (api_key === null && template.includes('<api_key>')) return false;
  return model !== null || !template.includes('<model>');
}
