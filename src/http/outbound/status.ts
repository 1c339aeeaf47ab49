import { createOutboundAgent } from './agent.ts';

/** The status of a GET, whose answer is not read. @throws when nothing answers within `timeoutMs` */
export async function statusOf(url: string, timeoutMs: number): Promise<number> {
  const agent = createOutboundAgent();
  try {
    const { statusCode } = await agent.request(url, {
      method: 'GET',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return statusCode;
  } finally {
    await agent.destroy();
  }
}
