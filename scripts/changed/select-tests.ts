import { matchesGlob } from 'node:path';
import { type ImportGraph, reachedFrom } from './import-graph.ts';
import { programTestsOf } from './program-tests.ts';

/** The files behind which the whole program stands: a test that starts it does not depend on all of it. */
const programs: ReadonlySet<string> = new Set(['bin/gateway', 'bin/gateway.js', 'src/cli/main.ts']);

/** Tests about the repository as a whole. They take seconds. */
const always: readonly string[] = ['test/architecture.test.ts', 'test/docs.test.ts'];

export interface TestSelection {
  /** What refers to what, of all TypeScript files. */
  graph: ImportGraph;
  /** Paths that are different. */
  changed: readonly string[];
  /** All test files. */
  tests: readonly string[];
}

/**
 * The tests that a change touches: changed tests, tests that import something changed, tests that start the program and
 * are about the folder of something changed, and the tests of the repository as a whole. None where nothing is changed.
 */
export function testsOf({ changed, graph, tests }: TestSelection): string[] {
  if (changed.length === 0) return [];
  const patterns = [...always, ...changed.flatMap(programTestsOf)];
  return tests.filter((test) => {
    if (patterns.some((pattern) => matchesGlob(test, pattern))) return true;
    const reached = reachedFrom(graph, test, programs);
    return changed.some((path) => reached.has(path));
  });
}
