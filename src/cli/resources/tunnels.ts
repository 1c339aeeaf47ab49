import { z } from 'zod';
import { tunnelRow } from '../../tunnels/schema.ts';
import { textOf } from '../gateway/api.ts';
import type { RunningGateway } from '../gateway/client.ts';
import { failure } from '../terminal/failure.ts';

export type TunnelRow = z.infer<typeof tunnelRow>;

export const tunnelIds: readonly string[] = tunnelRow.shape.id.options;

const TIMEOUT_MS = 15_000;
const refusal = z.object({ code: z.string(), detail: z.string() });

/** A tunnel as the gateway reports it. @throws a failure with what the gateway says */
export async function tunnelOf(gateway: RunningGateway, id: string): Promise<TunnelRow> {
  return tunnelRow.parse(await requestTunnels(gateway, `/${id}`));
}

/** Asks the collection of tunnels. @throws a failure with what the gateway says */
export async function requestTunnels(gateway: RunningGateway, path: string, body?: object): Promise<unknown> {
  const answer = await gateway.send(`/api/tunnels${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    timeoutMs: TIMEOUT_MS,
    ...(body === undefined ? {} : { body }),
  });
  const answerBody: unknown = JSON.parse(await textOf(answer));
  if (answer.status < 300) return answerBody;
  const refusalBody = refusal.safeParse(answerBody).data;
  throw failure(
    1,
    refusalBody?.code ?? 'unexpected_answer',
    refusalBody?.detail ?? `The gateway answered ${answer.status}`,
  );
}
