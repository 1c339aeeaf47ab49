import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const build = fileURLToPath(new URL('../../scripts/build-dashboard.ts', import.meta.url));

/** Builds the pages where they are older than their sources: `npm test` has done so, a single file that is run has not. */
export function buildPages(): void {
  const { status } = spawnSync(process.execPath, [build, '--if-stale'], { stdio: 'inherit' });
  assert.equal(status, 0);
}
