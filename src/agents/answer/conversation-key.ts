import { createHash } from 'node:crypto';
import type { Conversation, Message } from '../../codecs/model/conversation.ts';
import { splitTurn } from './prompt.ts';

/** How the requests of one conversation are known. */
export interface ConversationKeys {
  /** The key of the session that this request continues; null where it begins one. */
  continues: string | null;
  /** The key of the session for the request that follows `answer`. */
  after(answer: string): string;
}

/**
 * Keys of a request's conversation. A request sends everything that was said; it goes on with a session that was told
 * the same. Where the client names its session, what its user said has to be the same; else every word of all sides,
 * so that two conversations that begin alike are never taken for each other.
 * @param session as the client names it; null where it does not
 */
export function conversationKeys(conversation: Conversation, session: string | null): ConversationKeys {
  const { earlier } = splitTurn(conversation);
  const instructions = session === null ? conversation.system.map(({ text }) => text) : [];
  const keyOf = (messages: readonly Message[], answer: string | null): string => {
    const hash = createHash('sha256');
    const add = (text: string) => hash.update(`${text.length}:`).update(text);
    add(session ?? '');
    for (const text of instructions) add(`system ${text}`);
    for (const message of messages) {
      const text = textOf(message);
      if (message.role === 'user') add(`user ${text}`);
      else if (session === null && text !== '') add(`${message.role} ${text}`);
    }
    const answerText = answer === null ? '' : dense(answer);
    if (session === null && answerText !== '') add(`assistant ${answerText}`);
    return hash.digest('base64url');
  };
  return {
    continues: earlier.length === 0 ? null : keyOf(earlier, null),
    after: (answer) => keyOf(conversation.messages, answer),
  };
}

/** Everything that a message says. Of pictures and files only that they are there, and how long. */
function textOf({ parts }: Message): string {
  return dense(
    parts
      .map((part) => {
        switch (part.type) {
          case 'text':
          case 'refusal':
            return part.text;
          case 'reasoning':
            return '';
          case 'image':
            return part.source.kind === 'data' ? `[image ${hashOf(part.source.base64)}]` : '[image]';
          default:
            return JSON.stringify(part);
        }
      })
      .join(''),
  );
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Clients trim and wrap what they send back. */
function dense(text: string): string {
  return text.replace(/\s+/g, '');
}
