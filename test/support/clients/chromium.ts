import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { after, before } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Browser, chromium } from 'playwright-core';
import { PATIENCE_MS } from '../machine/patience.ts';

/** Where Debian's package `chromium` has it. */
const executablePath = '/usr/bin/chromium';

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Not every browser keeps pages from asking this machine; the gateway must not depend on it.
  '--disable-features=LocalNetworkAccessChecks',
];

/** Why tests that need the browser are passed over; false where they run. In `.ci/run` they always do. */
export const withoutChromium =
  existsSync(executablePath) || process.env['TESTS_NEED_CHROMIUM'] === '1'
    ? false
    : `${executablePath} is missing: apt-get install chromium`;

/** A real browser for all tests of one file. Every name ending in `.test` and `.lan` is this machine. */
export function browser(): { readonly running: Browser } {
  let started: Browser | null = null;
  before(async () => {
    assert.ok(existsSync(executablePath), `${executablePath} is missing: apt-get install chromium`);
    started = await launched();
  });
  after(() => (started === null ? undefined : closed(started)));
  return {
    get running() {
      assert.ok(started, 'the browser has not started');
      return started;
    },
  };
}

/** What a page may take to open at the first try, in milliseconds; twice as long at each after it. */
const OPENING_MS = 10_000;

/** A browser that opens pages: on a busy machine one that has just been started may never do so. */
async function launched(): Promise<Browser> {
  const names = '--host-resolver-rules=MAP *.test 127.0.0.1, MAP *.lan 127.0.0.1';
  for (let tries = 1; ; tries += 1) {
    const browser = await chromium.launch({ executablePath, args: [...flags, names], timeout: PATIENCE_MS });
    const opened = await within(OPENING_MS * 2 ** tries, browser.newPage());
    if (opened !== null) {
      await closed(opened);
      return browser;
    }
    await closed(browser);
    assert.ok(tries < 4, 'Chromium opens no page');
  }
}

/** Closes a page or a browser, and waits for that no longer than a page that hangs deserves. */
export async function closed(what: { close(): Promise<void> }): Promise<void> {
  await within(5_000, what.close());
}

/** What a promise comes to; null when that takes longer than so many milliseconds. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  const gone = new AbortController();
  try {
    return await Promise.race([promise, delay(ms, null, { signal: gone.signal, ref: false })]);
  } finally {
    gone.abort();
  }
}

/** What a server of a test was asked. */
export interface Asked {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface Site {
  readonly port: number;
  /** Everything that was asked for so far. */
  readonly asked: readonly Asked[];
  /** Shows this page at a path from now on. */
  show(path: string, html: string): void;
}

/**
 * A web server of somebody else, on a port of its own, for all tests of one file.
 * @param realm asks for a login with Basic, and takes any; null asks for none
 */
export function site(realm: string | null = null): Site {
  const pages = new Map<string, string>();
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { headers, method = '', url: path = '' } = request;
      asked.push({ method, path, headers, body: Buffer.concat(pieces).toString() });
      if (realm !== null && headers.authorization === undefined) {
        response.writeHead(401, { 'www-authenticate': `Basic realm="${realm}"` }).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'text/html' }).end(pages.get(path) ?? '<p>here</p>');
    });
  });
  let port = 0;
  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    port = address.port;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    get port() {
      return port;
    },
    asked,
    show: (path, html) => void pages.set(path, html),
  };
}
