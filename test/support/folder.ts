import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new empty folder that goes when the test ends. */
export function temporaryFolder(test: { after(fn: () => void): void }): string {
  const path = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  test.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
