import { matchesGlob } from 'node:path';

/** What runs in one process. */
export type TestProcess = { kind: 'alone'; file: string } | { kind: 'shared'; files: readonly string[] };

/** Files that may run in one process, one after the other: they leave it as it was. */
const SHARED = ['src/**', 'dashboard/src/**', 'test/codecs/**', 'test/conformance/**', 'test/translation/**'];

/** Files among them that need a process to themselves, and why. */
export const ALONE: Readonly<Record<string, string>> = {
  'src/http/body/body.test.ts': 'measures the memory of its process',
  'src/http/field-lines.test.ts': 'measures the memory of its process',
  'src/http/collection/pattern.test.ts': 'measures the processor time of its process',
};

/** Files that one process runs, at most: it keeps the modules of all of them. */
const FILES_PER_PROCESS = 40;

/**
 * Which test files share a process. A process costs a third of a second of processor time before its first test, most of it
 * for modules that many files import.
 */
export function testProcesses(files: readonly string[]): TestProcess[] {
  const isShared = (file: string) =>
    !Object.hasOwn(ALONE, file) && SHARED.some((glob) => matchesGlob(file, glob));
  const together = files.filter(isShared);
  const count = Math.ceil(together.length / FILES_PER_PROCESS);
  const size = Math.ceil(together.length / count);
  const shared = Array.from({ length: count }, (_, index) => ({
    kind: 'shared' as const,
    files: together.slice(index * size, (index + 1) * size),
  }));
  const alone = files.filter((file) => !isShared(file)).map((file) => ({ kind: 'alone' as const, file }));
  // The long ones first, so that the end does not wait for one of them.
  return [...shared, ...alone];
}
