import type { Tool } from '../tool.ts';

/** The tool with the recipe for one of its versions; with the newest recipe where the version is not known. */
export function forVersion(tool: Tool, version: string | null): Tool {
  if (version === null) return tool;
  const former = tool.formerRecipes?.find(({ before }) => compareVersions(version, before) < 0);
  return former === undefined ? tool : { ...tool, recipe: former.recipe };
}

/**
 * Orders versions by their numbers; what is missing counts as 0. A version before its release (`2.0.0-beta.1`) comes
 * before the release, and such versions are ordered by their text.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parts(a), parts(b)];
  const length = Math.max(left.numbers.length, right.numbers.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (left.numbers[index] ?? 0) - (right.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.preRelease === right.preRelease) return 0;
  if (left.preRelease === '') return 1;
  if (right.preRelease === '') return -1;
  return left.preRelease.localeCompare(right.preRelease, 'en', { numeric: true });
}

function parts(version: string): { numbers: number[]; preRelease: string } {
  const [, release = '', preRelease = ''] = /^v?([\d.]*)(?:-([^+]*))?/.exec(version) ?? [];
  const numbers = release
    .split('.')
    .filter((part) => part !== '')
    .map(Number);
  return { numbers, preRelease };
}
