import { outputCapOf } from '../../codecs/adapt/output-cap.ts';
import { clientWord } from '../../codecs/model/client-words.ts';
import type { Concept } from '../../codecs/model/concept.ts';
import { sessionOf } from '../../combos/session.ts';
import type { ProxyContext } from '../context.ts';
import type { Call } from '../dispatch/call.ts';
import { joined } from '../metering/meter.ts';
import type { Upstream, UpstreamRequest } from './attempt.ts';

/** A request for an agent on the gateway's own machine. */
export interface AgentRequest {
  /** The agent's id, and its model behind a slash. */
  model: string;
  /** Id of the gateway key that asks. */
  owner: string;
  /** The session as the client names it; null where it does not. */
  session: string | null;
  /** A request of the chat format. */
  body: Buffer;
}

/** An agent that is ready to be asked. */
export interface AskedAgent extends Upstream {
  /** What it is not told. */
  dropped: readonly Concept[];
  /** What the chat format calls the bound of the answer, where agents were to be told one; null where none is set. */
  bound: string | null;
}

/**
 * The request to an agent, in the chat format. What it cannot be told is noted in the call, in the client's words.
 * @throws GatewayError
 */
export function agentRequest(context: ProxyContext, call: Call, body: readonly Buffer[]): UpstreamRequest {
  const { codec, exchange, keyId, target, translated } = call;
  const session = sessionOf(exchange.request.headers, codec.format, call.body);
  const asked = context.askAgent({
    model: target.model,
    owner: keyId,
    session: session === null || session.key.startsWith('words:') ? null : session.key,
    body: joined(body),
  });
  const request = translated?.request ?? {};
  const { conversation } = codec;
  const words = asked.dropped.map((concept) =>
    conversation === null ? concept : clientWord(conversation, concept, request),
  );
  const bound = asked.bound === null ? null : (outputCapOf(codec.format, request)?.name ?? asked.bound);
  call.dropped = [...new Set([...call.dropped, ...words, ...(bound === null ? [] : [bound])])].sort();
  return { upstream: asked, origin: 'http://acp.invalid', host: 'acp', path: '/', headers: [], body: [] };
}
