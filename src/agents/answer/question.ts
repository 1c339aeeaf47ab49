import { outputCapOf } from '../../codecs/adapt/output-cap.ts';
import { codecOf } from '../../codecs/index.ts';
import { parseObject } from '../../codecs/json/values.ts';
import { type Concept, concepts } from '../../codecs/model/concept.ts';
import type { Conversation } from '../../codecs/model/conversation.ts';
import { GatewayError } from '../../lib/error.ts';

/** A request as an agent can be asked it. */
export interface AgentQuestion {
  conversation: Conversation;
  /** What the agent is not sent, or what is not enforced. */
  dropped: readonly Concept[];
  /** What the chat format calls the bound of the answer, which agents do not take; null where none is set. */
  outputLimitField: string | null;
}

/** What a prompt says although the protocol has no field for it. */
const carried: ReadonlySet<Concept> = new Set<Concept>([
  'toolCalls',
  'imageInput',
  'participants',
  'assistantNames',
  'fileNames',
  'schemaDescription',
]);

/**
 * What is left out although other formats refuse a request that asks for it: agents bring their own tools, and the
 * wish for JSON stands in the prompt, where nothing holds the agent to it.
 */
const leftOut: ReadonlySet<Concept> = new Set<Concept>(['tools', 'jsonOutput', 'schemaOutput']);

const rows = Object.entries(concepts) as [Concept, (typeof concepts)[Concept]][];

/**
 * Reads a request of the chat format.
 * @throws GatewayError `invalid_json`, `invalid_request`, `not_translatable` for what an agent cannot be asked
 */
export function readQuestion(body: Buffer): AgentQuestion {
  const request = parseObject(body.toString('utf8'));
  if (request === null) throw new GatewayError('invalid_json', 'The request body is not a valid JSON object');
  const codec = codecOf('openai-chat').conversation;
  if (codec === null) throw new Error('the chat format takes part in translation');
  const conversation = codec.decodeRequest(request);
  const dropped: Concept[] = [];
  for (const [concept, row] of rows) {
    if (carried.has(concept) || !row.isRequested(conversation)) continue;
    if (row.without === 'refuse' && !leftOut.has(concept)) {
      const word = codec.names[concept] ?? concept;
      throw new GatewayError(
        'not_translatable',
        `An ACP agent does not support "${word}": leave it out, or choose another model`,
        { param: word },
      );
    }
    dropped.push(concept);
  }
  return {
    conversation,
    dropped,
    outputLimitField: outputCapOf(codecOf('openai-chat'), request)?.name ?? null,
  };
}
