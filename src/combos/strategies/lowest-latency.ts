import type { HealthView } from '../../health/health-view.ts';
import { byScore } from './by-score.ts';
import type { Choice, Strategy } from './strategy.ts';

/** A measurement that is older says what was, not what is. */
const STALE_MS = 5 * 60_000;
/** Of the requests that find a target without a measurement, or with an old one, such a share goes there to make one. */
const UNMEASURED_SHARE = 1 / 4;
const STALE_SHARE = 1 / 20;

/**
 * The peak average of the time to the first content, times the requests that are on their way already, so that the
 * fastest is not flooded. A share of the requests measures what was never measured, and measures again what has not been
 * tried for long: a target that was slow once would else be slow for good.
 */
export const lowestLatency: Strategy = {
  id: 'lowest-latency',
  summary: 'The target that began to answer soonest of late.',
  order(choices, { healthView, random }) {
    const measured = choices.map(({ connectionId, model }) => healthView.latencyMs(connectionId, model));
    let fastest = Number.POSITIVE_INFINITY;
    for (const latency of measured) if (latency !== null && latency < fastest) fastest = latency;
    const isMeasured = Number.isFinite(fastest);
    const ordered = byScore(choices, ({ connectionId }, index) => {
      const latency = Math.max(1, measured[index] ?? (isMeasured ? fastest : 1));
      return latency * (healthView.inFlight(connectionId) + 1);
    });
    const explored = isMeasured ? toMeasure(choices, healthView, random) : null;
    return explored === null ? ordered : [explored, ...ordered.filter((choice) => choice !== explored)];
  },
};

/** A target that this request measures; null for none. One that is being measured is left to it. */
function toMeasure<C extends Choice>(
  choices: readonly C[],
  healthView: HealthView,
  random: () => number,
): C | null {
  const idle = choices.filter(({ connectionId }) => healthView.inFlight(connectionId) === 0);
  const age = ({ connectionId, model }: C) => healthView.latencyAgeMs(connectionId, model);
  const unmeasured = idle.filter((choice) => age(choice) === null);
  const due = unmeasured.length > 0 ? unmeasured : idle.filter((choice) => (age(choice) ?? 0) > STALE_MS);
  if (due.length === 0) return null;
  const share = unmeasured.length > 0 ? UNMEASURED_SHARE : STALE_SHARE;
  // One draw for both: below the share it is as even as above.
  return due[Math.floor((random() / share) * due.length)] ?? null;
}
