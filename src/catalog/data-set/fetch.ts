import { readFile, stat } from 'node:fs/promises';
import { createOutboundAgent } from '../../http/outbound/agent.ts';
import { GatewayError } from '../../lib/error.ts';

/** Where models.dev publishes its data. */
export const publishedDataSet = 'https://models.dev/api.json';

/** The data set is about 3 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

/**
 * Reads a data set from a file or an address, as parsed JSON.
 * @throws GatewayError `invalid_request` for what cannot be read, is too large or is no JSON
 */
export async function readDataSet(from: string): Promise<unknown> {
  const text = /^https?:\/\//i.test(from) ? await fromUrl(from) : await fromFile(from);
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable('it is no JSON');
  }
}

async function fromFile(path: string): Promise<string> {
  try {
    if ((await stat(path)).size > MAX_BYTES) throw unreadable(`it is larger than ${MAX_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw unreadable((error as NodeJS.ErrnoException).code ?? 'it is not a file');
  }
}

async function fromUrl(url: string): Promise<string> {
  const parsed = URL.parse(url);
  const isNear = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])$/.test(parsed?.hostname ?? '');
  if (parsed === null || (parsed.protocol !== 'https:' && !isNear))
    throw unreadable('give a file or an https:// address: prices are not taken over an open line');
  const agent = createOutboundAgent({ connect: { timeout: TIMEOUT_MS } });
  try {
    const { body, statusCode } = await agent.request(parsed.href, {
      method: 'GET',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (statusCode !== 200) throw unreadable(`${parsed.host} answered ${statusCode}`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) throw unreadable(`it is larger than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw unreadable(
      `${parsed.host} cannot be reached (${(error as NodeJS.ErrnoException).code ?? 'no answer'})`,
    );
  } finally {
    await agent.destroy();
  }
}

function unreadable(problem: string): GatewayError {
  return new GatewayError('invalid_request', `The data set cannot be read: ${problem}`, { param: 'from' });
}
