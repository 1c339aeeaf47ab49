/**
 * The environment of a program under test: what it needs to be found, and where compiled modules are kept between the
 * processes of a test run. Nothing else of this process's own.
 */
export function childEnv(own: Readonly<Record<string, string>>): Record<string, string> {
  const { NODE_COMPILE_CACHE: compiled, PATH = '' } = process.env;
  return { PATH, ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled }), ...own };
}
