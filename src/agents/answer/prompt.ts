import type { Conversation, Message, Part } from '../../codecs/model/conversation.ts';
import { GatewayError } from '../../lib/error.ts';
import type { PromptBlock } from '../session/connection.ts';

/** A conversation in two: what was said up to the last answer, and what is new. */
export interface SplitConversation {
  earlier: readonly Message[];
  turn: readonly Message[];
}

/** The new turn is everything behind the last message of the assistant. */
export function splitTurn({ messages }: Pick<Conversation, 'messages'>): SplitConversation {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return { earlier: messages.slice(0, last + 1), turn: messages.slice(last + 1) };
}

/** A request that ends with a message of the assistant is to be continued. */
const GO_ON = 'Go on with your last answer.';

/**
 * What an agent is asked. A session that has the conversation gets the new turn alone; another one gets the
 * instructions and what was said before as text in front of it.
 * @param images whether the agent takes images
 * @throws GatewayError `not_translatable` for an image that it cannot take
 */
export function promptOf(conversation: Conversation, continued: boolean, images: boolean): PromptBlock[] {
  const { earlier, turn } = splitTurn(conversation);
  const blocks: PromptBlock[] = [];
  if (!continued) {
    const preamble = preambleOf(conversation, earlier);
    if (preamble !== '') blocks.push({ type: 'text', text: preamble });
  }
  for (const { parts } of turn) blocks.push(...parts.flatMap((part) => blocksOf(part, images)));
  if (turn.length === 0) blocks.push({ type: 'text', text: GO_ON });
  const shape = shapeOf(conversation);
  if (shape !== null) blocks.push({ type: 'text', text: shape });
  return blocks;
}

function preambleOf({ system }: Conversation, earlier: readonly Message[]): string {
  const sections: string[] = [];
  const instructions = system.map(({ text }) => text).join('\n\n');
  if (instructions.trim() !== '') sections.push(`<instructions>\n${instructions}\n</instructions>`);
  if (earlier.length > 0) {
    const transcript = earlier.map(({ name, parts, role }) => {
      const who = name === undefined ? role : `${role} (${name})`;
      return `[${who}]\n${parts.map(textOfPart).filter(Boolean).join('\n')}`;
    });
    sections.push(`<conversation_so_far>\n${transcript.join('\n\n')}\n</conversation_so_far>`);
  }
  return sections.join('\n\n');
}

function blocksOf(part: Part, images: boolean): PromptBlock[] {
  if (part.type === 'image') return [imageBlock(part.source, images)];
  const texts = [textOfPart(part)]
    .filter((text) => text !== '')
    .map((text): PromptBlock => ({ type: 'text', text }));
  if (part.type !== 'tool-result') return texts;
  const pictures = part.parts.filter((inner) => inner.type === 'image');
  return [...texts, ...pictures.map(({ source }) => imageBlock(source, images))];
}

function imageBlock(source: Extract<Part, { type: 'image' }>['source'], images: boolean): PromptBlock {
  if (!images || source.kind !== 'data')
    throw new GatewayError(
      'not_translatable',
      images
        ? 'An ACP agent takes images as data, not by their address: send them as a data URL'
        : 'This agent takes no images: leave them out, or choose another model',
      { param: 'messages' },
    );
  return { type: 'image', data: source.base64, mimeType: source.mediaType };
}

/** What a part says in words; '' for what is nothing to read. */
function textOfPart(part: Part): string {
  switch (part.type) {
    case 'text':
    case 'refusal':
    case 'search':
      return part.text;
    case 'tool-call':
      return `(called the tool ${part.name} with ${part.input === '' ? '{}' : part.input})`;
    case 'tool-result': {
      const text = part.parts.map(textOfPart).filter(Boolean).join('\n');
      return `(the tool ${part.isError ? 'failed' : 'answered'}: ${text})`;
    }
    case 'file':
      return part.source.kind === 'text'
        ? `${part.name ?? 'document'}:\n${part.source.text}`
        : '(a document)';
    case 'image':
      return '(an image)';
    case 'audio':
      return '(a recording)';
    case 'native':
      return part.text ?? '';
    case 'reasoning':
      return '';
  }
}

/** The wish for an answer in JSON, in words; null where there is none. */
function shapeOf({ output }: Conversation): string | null {
  switch (output.kind) {
    case 'text':
      return null;
    case 'json':
      return 'Answer with one JSON object and nothing else.';
    case 'schema':
      return `Answer with JSON that fits this schema, and nothing else:\n${JSON.stringify(output.schema)}`;
  }
}
