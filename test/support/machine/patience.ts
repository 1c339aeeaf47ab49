/**
 * What never comes is given up after this time, in milliseconds. What comes late on a busy machine has come all the
 * same, so it is long; it is shorter than the limit of the test runner, which would not say what was missing.
 */
export const PATIENCE_MS = 300_000;
