import type { GatewayTool } from '../tool.ts';
import { listBudgets, setBudget } from './budgets.ts';
import { listCombos, switchCombo } from './combos.ts';
import { costs } from './costs.ts';
import { eventsTail } from './events.ts';
import { createKey, listKeys } from './keys.ts';
import { listModels } from './models.ts';
import { explainRequest, recentRequests } from './requests.ts';
import { health, quota, toolStatus } from './state.ts';

/** What an assistant can do with the gateway, in the order in which it is offered. */
export const gatewayTools: readonly GatewayTool[] = [
  health,
  listModels,
  recentRequests,
  explainRequest,
  costs,
  listCombos,
  switchCombo,
  listBudgets,
  setBudget,
  listKeys,
  createKey,
  quota,
  toolStatus,
  eventsTail,
];
