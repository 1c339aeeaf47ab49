import type { Migration } from 'kysely';
import { first } from './0001-first.ts';
import { responses } from './0002-responses.ts';
import { media } from './0003-media.ts';
import { management } from './0004-management.ts';
import { standings } from './0005-standings.ts';
import { sealedResponses } from './0006-sealed-responses.ts';
import { combos } from './0007-combos.ts';
import { leases } from './0008-leases.ts';
import { budgets } from './0009-budgets.ts';
import { idempotency } from './0010-idempotency.ts';
import { traces } from './0011-traces.ts';
import { modelLists } from './0012-model-lists.ts';
import { cache } from './0013-cache.ts';
import { continued } from './0014-continued.ts';
import { boundTokens } from './0015-bound-tokens.ts';
import { innerCombos } from './0016-inner-combos.ts';
import { responseRequests } from './0017-response-requests.ts';
import { placeModels } from './0018-place-models.ts';
import { budgetTallies } from './0019-budget-tallies.ts';
import { pricedBudgets } from './0020-priced-budgets.ts';
import { droppedMembers } from './0021-dropped-members.ts';
import { promptCache } from './0022-prompt-cache.ts';
import { eventConfigs } from './0023-event-configs.ts';
import { tunnels } from './0024-tunnels.ts';
import { alerts } from './0025-alerts.ts';
import { agents } from './0031-agents.ts';
import { tags } from './0032-tags.ts';
import { budgetThresholds } from './0033-budget-thresholds.ts';
import { serviceTiers } from './0039-service-tiers.ts';
import { plans } from './0041-plans.ts';
import { nodes } from './0044-nodes.ts';
import { largeInstallations } from './0047-large-installations.ts';
import { savedViews } from './0048-saved-views.ts';
import { keyChangesOnServers } from './0049-key-changes-on-servers.ts';
import { toolRuns } from './0050-tool-runs.ts';
import { keptSumsOnServers } from './0051-kept-sums-on-servers.ts';
import { valueCounts } from './0052-value-counts.ts';
import { archivedUsage } from './0053-archived-usage.ts';
import { sumsByKey } from './0054-sums-by-key.ts';
import { runTotals } from './0055-run-totals.ts';
import { finishReasons } from './0057-finish-reasons.ts';
import { jobRuns } from './0058-job-runs.ts';
import { packedSums } from './0059-packed-sums.ts';
import { sumRollups } from './0060-sum-rollups.ts';
import { noIndexByConnection } from './0061-no-index-by-connection.ts';

/** Every change of the schema, oldest first. A released one is never edited; none is ever undone. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-first': first,
  '0002-responses': responses,
  '0003-media': media,
  '0004-management': management,
  '0005-standings': standings,
  '0006-sealed-responses': sealedResponses,
  '0007-combos': combos,
  '0008-leases': leases,
  '0009-budgets': budgets,
  '0010-idempotency': idempotency,
  '0011-traces': traces,
  '0012-model-lists': modelLists,
  '0013-cache': cache,
  '0014-continued': continued,
  '0015-bound-tokens': boundTokens,
  '0016-inner-combos': innerCombos,
  '0017-response-requests': responseRequests,
  '0018-place-models': placeModels,
  '0019-budget-tallies': budgetTallies,
  '0020-priced-budgets': pricedBudgets,
  '0021-dropped-members': droppedMembers,
  '0022-prompt-cache': promptCache,
  '0023-event-configs': eventConfigs,
  '0024-tunnels': tunnels,
  '0025-alerts': alerts,
  '0031-agents': agents,
  '0032-tags': tags,
  '0033-budget-thresholds': budgetThresholds,
  '0039-service-tiers': serviceTiers,
  '0041-plans': plans,
  '0044-nodes': nodes,
  '0047-large-installations': largeInstallations,
  '0048-saved-views': savedViews,
  '0049-key-changes-on-servers': keyChangesOnServers,
  '0050-tool-runs': toolRuns,
  '0051-kept-sums-on-servers': keptSumsOnServers,
  '0052-value-counts': valueCounts,
  '0053-archived-usage': archivedUsage,
  '0054-sums-by-key': sumsByKey,
  '0055-run-totals': runTotals,
  '0057-finish-reasons': finishReasons,
  '0058-job-runs': jobRuns,
  '0059-packed-sums': packedSums,
  '0060-sum-rollups': sumRollups,
  '0061-no-index-by-connection': noIndexByConnection,
};
