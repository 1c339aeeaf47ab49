import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new empty folder that goes when the test ends; in the folder of temporary files, or `within` another one. */
export function temporaryFolder(test: { after(fn: () => void): void }, within = tmpdir()): string {
  const path = mkdtempSync(join(within, 'gateway-test-'));
  test.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
