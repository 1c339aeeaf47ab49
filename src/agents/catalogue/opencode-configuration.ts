import { keyVariable } from '../../tools/tool.ts';
import type { GatewayAddress } from '../definition.ts';

/** The configuration by which OpenCode and its descendants use a model of the gateway, for titles and summaries too. */
export function openCodeConfiguration({ baseUrl, model }: GatewayAddress): string {
  return JSON.stringify({
    provider: {
      modelgate: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Modelgate',
        options: { baseURL: `${baseUrl}/v1`, apiKey: `{env:${keyVariable}}` },
        models: { [model]: { name: model } },
      },
    },
    model: `modelgate/${model}`,
    small_model: `modelgate/${model}`,
    autoupdate: false,
    share: 'disabled',
  });
}
