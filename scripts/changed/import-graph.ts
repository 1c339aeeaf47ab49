import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** Which files each file names, by path relative to the root. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

/** A path in quotes that begins with a dot: what is imported, statically or not, and what `new URL` is made from. */
const relativePath = /['"`](\.{1,2}\/[^'"`\s$]{1,200})['"`]/g;

/** Imports of types, which are gone when the code runs: what they could break, the type checker says. */
const typeImport = /^(?:import|export) type [^;]{1,2000};/gm;

/**
 * The files that each of `files` refers to by a relative path in quotes: imports, dynamic imports, worker threads and data.
 * A text that is found by chance adds an edge too many, which costs a test run and never hides one.
 * @param root folder to which all paths are relative
 * @param files paths of TypeScript files
 */
export function importGraph(root: string, files: readonly string[]): ImportGraph {
  return new Map(files.map((file) => [file, referencesOf(root, file)]));
}

function referencesOf(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8').replace(typeImport, '');
  const found = [...text.matchAll(relativePath)].map(([, path = '']) => normalize(join(dirname(file), path)));
  return [...new Set(found)].filter((path) => !path.startsWith('..') && isFile(join(root, path)));
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

/**
 * Everything that `start` refers to, directly or not, itself included.
 * @param boundaries files that are part of the result, and are not looked into
 */
export function reachedFrom(
  graph: ImportGraph,
  start: string,
  boundaries: ReadonlySet<string> = new Set(),
): ReadonlySet<string> {
  const reached = new Set([start]);
  for (const file of reached) {
    if (boundaries.has(file)) continue;
    for (const next of graph.get(file) ?? []) reached.add(next);
  }
  return reached;
}
