import type { ImagePart, Message, Part, TextPart } from '../model/conversation.ts';

const POINTER: TextPart = { type: 'text', text: '[A picture, shown in the next message]' };
const CAPTION: TextPart = { type: 'text', text: 'Pictures of the answer before:' };

function showsImage({ parts, role }: Message): boolean {
  return role === 'assistant' && parts.some(({ type }) => type === 'image');
}

/**
 * Messages for a format in which only the user can show pictures: those that a model made stand at the end of what the
 * user says next.
 */
export function withoutAnswerImages(messages: Message[]): Message[] {
  if (!messages.some(showsImage)) return messages;
  const result: Message[] = [];
  let waiting: ImagePart[] = [];
  const shown = (): Part[] => {
    const images = waiting;
    waiting = [];
    return images.length === 0 ? [] : [CAPTION, ...images];
  };
  for (const message of messages) {
    if (message.role !== 'assistant') {
      const parts = message.role === 'user' ? [...message.parts, ...shown()] : message.parts;
      result.push({ ...message, parts });
      continue;
    }
    const images = message.parts.filter((part) => part.type === 'image');
    waiting.push(...images);
    const parts = message.parts.map((part) => (part.type === 'image' ? POINTER : part));
    result.push(images.length === 0 ? message : { ...message, parts });
  }
  const rest = shown();
  return rest.length === 0 ? result : [...result, { role: 'user', parts: rest }];
}
