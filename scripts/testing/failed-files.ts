import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/**
 * A reporter of node:test: the test files in which something failed, a line each, relative to the working directory.
 * @param shared the files that run together, by the module that runs them
 */
export function failedFilesReporter(shared: ReadonlyMap<string, readonly string[]>) {
  return async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
    const finished = new Set<string>();
    const reported = new Set<string>();
    for await (const event of events) {
      // In a shared process each file is a suite of its name.
      if (event.type === 'test:complete' && event.data.nesting === 0) finished.add(event.data.name);
      if (event.type !== 'test:fail') continue;
      for (const file of filesOf(event.data)) {
        if (reported.has(file)) continue;
        reported.add(file);
        yield `${file}\n`;
      }
    }

    function filesOf({ entryFile, file, name, nesting }: Failed): readonly string[] {
      const entry = entryFile ?? file;
      const together = entry === undefined ? undefined : shared.get(entry);
      if (together === undefined) return entry === undefined ? [] : [relative(process.cwd(), entry)];
      if (together.includes(name)) return [name];
      // The failed suite of the file follows.
      if (nesting > 0) return [];
      return together.filter((one) => !finished.has(one));
    }
  };
}

interface Failed {
  name: string;
  nesting: number;
  /** Where the test is written, which may be a module that several test files use. */
  file?: string | undefined;
  /** The file that its process was started with. */
  entryFile?: string;
}
