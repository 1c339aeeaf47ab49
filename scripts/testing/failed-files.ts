import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** A reporter of node:test: the files in which a test failed, a line each, relative to the working directory. */
// biome-ignore lint/style/noDefaultExport: node:test takes a reporter from its module's default export.
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const reported = new Set<string>();
  for await (const event of events) {
    if (event.type !== 'test:fail' || event.data.file === undefined) continue;
    const file = relative(process.cwd(), event.data.file);
    if (reported.has(file)) continue;
    reported.add(file);
    yield `${file}\n`;
  }
}
