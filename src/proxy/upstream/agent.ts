import { outputCapOf } from '../../codecs/adapt/output-cap.ts';
import { clientWord } from '../../codecs/model/client-words.ts';
import type { Concept } from '../../codecs/model/concept.ts';
import { sessionOf } from '../../combos/sessions/session.ts';
import { joined } from '../json/joined.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';
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
export interface ReadyAgent extends Upstream {
  /** The fields that it is not sent. */
  dropped: readonly Concept[];
  /** The chat format's field for the length of the answer, which agents do not take; null where none is set. */
  outputLimitField: string | null;
}

/** Asks an agent on this machine. @throws GatewayError */
export type AskAgent = (request: AgentRequest) => ReadyAgent;

/**
 * The request to an agent, in the chat format, and the fields that agents do not take, by the client's names.
 * @throws GatewayError
 */
export function agentRequest(
  askAgent: AskAgent,
  { codec, exchange, principal }: RequestFacts,
  { clientBody, body, target, translation }: OutgoingRequest,
): { upstream: UpstreamRequest; dropped: string[] } {
  const session = sessionOf(exchange.request.headers, codec.format, clientBody);
  const agent = askAgent({
    model: target.model,
    owner: principal.keyId,
    session: session === null || session.key.startsWith('words:') ? null : session.key,
    body: joined(body),
  });
  const request = translation?.request ?? {};
  const { conversation } = codec;
  const words = agent.dropped.map((concept) =>
    conversation === null ? concept : clientWord(conversation, concept, request),
  );
  const bound =
    agent.outputLimitField === null ? null : (outputCapOf(codec, request)?.name ?? agent.outputLimitField);
  const upstream = { upstream: agent, origin: 'http://acp.invalid', host: 'acp', path: '/', headers: [] };
  return { upstream: { ...upstream, body: [] }, dropped: [...words, ...(bound === null ? [] : [bound])] };
}
