import type { GatewayTool } from './tool.ts';
import { listBudgets } from './tools/budgets.ts';
import { listCombos } from './tools/combos.ts';
import { listModels } from './tools/models.ts';
import { explainRequest } from './tools/requests.ts';
import { health } from './tools/state.ts';

/** Something that a person hands to an assistant as context. It is what a tool that only reads answers. */
export interface GatewayResource {
  uri: string;
  name: string;
  of: GatewayTool;
}

export const gatewayResources: readonly GatewayResource[] = [
  { uri: 'modelgate://health', name: 'health', of: health },
  { uri: 'modelgate://models', name: 'models', of: listModels },
  { uri: 'modelgate://combos', name: 'combos', of: listCombos },
  { uri: 'modelgate://budgets', name: 'budgets', of: listBudgets },
];

/** One request with its trace. The variable of the template is the tool's input. */
export const requestResource: GatewayResource = {
  uri: 'modelgate://requests/{id}',
  name: 'request',
  of: explainRequest,
};
