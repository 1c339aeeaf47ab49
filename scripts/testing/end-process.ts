/**
 * Ends the process of a test file that would not end by itself, and fails it: a test that failed may leave a server or a
 * program running. Loaded before the file, with `?closing=` the milliseconds after the last test in which the file's hooks
 * close what it has opened.
 */
import { after } from 'node:test';
import { isMainThread } from 'node:worker_threads';

if (isMainThread && process.env['NODE_TEST_CONTEXT'] !== undefined)
  after(() => {
    setTimeout(
      () => {
        const held = process.getActiveResourcesInfo().join(', ');
        console.error(`${process.argv[1]}: its tests are over, but the process would not end: ${held}`);
        process.exit(1);
      },
      Number(new URL(import.meta.url).searchParams.get('closing')),
    ).unref();
  });
