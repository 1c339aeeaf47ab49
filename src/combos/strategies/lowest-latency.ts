import { byScore } from './by-score.ts';
import type { Strategy } from './strategy.ts';

/**
 * The peak average of the time to the first content, times the requests that are on their way already, so that the
 * fastest is not flooded. One that was never measured counts as fast as the fastest, and so gets measured.
 */
export const lowestLatency: Strategy = {
  id: 'lowest-latency',
  summary: 'The target that began to answer soonest of late.',
  order(choices, { outlook }) {
    const measured = choices.map(({ connectionId, model }) => outlook.latencyMs(connectionId, model));
    let fastest = Number.POSITIVE_INFINITY;
    for (const latency of measured) if (latency !== null && latency < fastest) fastest = latency;
    const assumed = Number.isFinite(fastest) ? fastest : 1;
    return byScore(choices, ({ connectionId }, index) => {
      const latency = Math.max(1, measured[index] ?? assumed);
      return latency * (outlook.inFlight(connectionId) + 1);
    });
  },
};
