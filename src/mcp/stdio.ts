import { finished, type Readable, type Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer, type McpServerInput } from './server.ts';

export interface StdioInput extends Omit<McpServerInput, 'onCall'> {
  stdin: Readable;
  stdout: Writable;
  /** Told of what went wrong, for stderr. */
  note(text: string): void;
}

/** More than any request to these tools needs, in bytes. */
const MAX_MESSAGE_BYTES = 1_048_576;

/** Serves one client over stdio. Resolves when it closes its end. */
export async function serveMcpOnStdio({ note, stdin, stdout, ...input }: StdioInput): Promise<void> {
  const transport = new StdioServerTransport(stdin, stdout, { maxBufferSize: MAX_MESSAGE_BYTES });
  const ended = new Promise<void>((resolve) => finished(stdin, { writable: false }, () => resolve()));
  const onCall = (fault: unknown) => {
    if (fault !== null) note(`A tool failed: ${fault instanceof Error ? fault.message : String(fault)}`);
  };
  const handle = serveStdio(() => createMcpServer({ ...input, onCall }), {
    transport,
    maxSubscriptions: 0,
    onerror: (error) => note(error.message),
  });
  await ended;
  await handle.close();
}
