import { failure } from '../terminal/failure.ts';
import type { GatewayResponse, RunningGateway } from './client.ts';

const TIMEOUT_MS = 10_000;

/** All members of a collection of the running gateway. @throws a failure for anything but a list */
export async function collection(gateway: RunningGateway, name: string): Promise<Record<string, unknown>[]> {
  const answer = await gateway.send(`/api/${name}?expand=resources`, {
    method: 'GET',
    timeoutMs: TIMEOUT_MS,
  });
  const text = await textOf(answer);
  const list: unknown = answer.status === 200 ? JSON.parse(text) : null;
  if (typeof list === 'object' && list !== null && 'resources' in list && Array.isArray(list.resources))
    return list.resources as Record<string, unknown>[];
  throw failure(1, 'unexpected_answer', `The gateway answered ${answer.status} for /api/${name}`);
}

/**
 * Does something to every member of a collection of the running gateway for which it is possible. That it failed for
 * one stands in what the member shows afterwards.
 */
export async function act(gateway: RunningGateway, name: string, action: string): Promise<void> {
  for (const { actions, href } of await collection(gateway, name)) {
    const offered = Array.isArray(actions) && actions.some((one) => isNamed(one, action));
    if (!offered || typeof href !== 'string') continue;
    const answer = await gateway.send(new URL(href, gateway.url).pathname, {
      method: 'POST',
      body: { action },
      timeoutMs: TIMEOUT_MS,
    });
    await textOf(answer);
  }
}

function isNamed(action: unknown, name: string): boolean {
  return typeof action === 'object' && action !== null && 'name' in action && action.name === name;
}

export async function textOf({ body }: GatewayResponse): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}
