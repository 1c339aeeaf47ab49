/** A value at a time, in milliseconds. */
export interface Sample {
  readonly at: number;
  readonly value: number;
}

/** By how much a value grows in ten minutes: the slope of the line that fits the samples best. */
export function growthInTenMinutes(samples: readonly Sample[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanAt, meanValue] = [mean(samples.map(({ at }) => at)), mean(samples.map(({ value }) => value))];
  let covariance = 0;
  let variance = 0;
  for (const { at, value } of samples) {
    covariance += (at - meanAt) * (value - meanValue);
    variance += (at - meanAt) ** 2;
  }
  return variance === 0 ? 0 : (covariance / variance) * 600_000;
}

/** The smallest value in each minute: what comes and goes is not in it. */
export function smallestOfMinutes(samples: readonly Sample[]): Sample[] {
  const minutes = new Map<number, Sample>();
  for (const sample of samples) {
    const minute = Math.floor(sample.at / 60_000);
    const smallest = minutes.get(minute);
    if (smallest === undefined || sample.value < smallest.value) minutes.set(minute, sample);
  }
  return [...minutes.values()];
}
