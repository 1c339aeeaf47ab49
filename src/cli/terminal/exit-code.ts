/** 0 ok, 1 failed, 2 bad usage, 3 gateway needed but not running, 4 not authorised, 5 rate limited, 124 timed out. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 124;

/** How a program ended that was started for the user: this one ends alike. */
export type ChildEnd = { exitCode: number } | { signal: NodeJS.Signals };
