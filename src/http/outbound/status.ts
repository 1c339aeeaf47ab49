import { Agent, request } from './undici.ts';

/** The status of a GET, whose answer is not read. @throws when nothing answers within `timeoutMs` */
export async function statusOf(url: string, timeoutMs: number): Promise<number> {
  const dispatcher = new Agent();
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const { statusCode } = await request(url, { method: 'GET', dispatcher, signal });
    return statusCode;
  } finally {
    await dispatcher.destroy();
  }
}
