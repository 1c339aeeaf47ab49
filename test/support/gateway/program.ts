import { resolve } from 'node:path';

/**
 * The program that tests start. `npm test` builds it first and names it here, for a built one starts in a third of the
 * time; a test that is run alone takes the sources, which need no build.
 */
export const program = resolve(
  import.meta.dirname,
  '../../..',
  process.env['TESTED_PROGRAM'] ?? 'src/cli/main.ts',
);
