import { asParagraphs, asWritten } from '../../adapt/joined-texts.ts';
import type { Conversation, Message, Part } from '../../model/conversation.ts';

/** Who speaks, on a line of its own: what follows a line end needs no space, so that the answer begins with none. */
const labels: Readonly<Record<Message['role'], string>> = {
  system: 'System:',
  user: 'User:',
  assistant: 'Assistant:',
};

/** What a model writes when it continues with the user's next turn by itself. */
export const NEXT_TURN = `\n\n${labels.user}\n`;

interface Turn {
  role: Message['role'];
  texts: string[];
}

/**
 * A conversation as one text for a model that can only continue a text: labelled turns, the last of them
 * the assistant's, which is empty or holds what it is to continue.
 */
export function transcript({ messages, system }: Conversation): string {
  const turns: Turn[] = [];
  for (const { parts, role } of [{ role: 'system' as const, parts: system }, ...messages]) {
    const texts = parts.map(wordsOf);
    const text = role === 'assistant' ? asWritten(texts) : asParagraphs(texts);
    if (text === '') continue;
    const last = turns.at(-1);
    if (last?.role === role) last.texts.push(text);
    else turns.push({ role, texts: [text] });
  }
  if (turns.at(-1)?.role !== 'assistant') turns.push({ role: 'assistant', texts: [] });
  return turns.map(({ role, texts }) => `${labels[role]}\n${asParagraphs(texts)}`).join('\n\n');
}

/** The text of a part. Earlier reasoning is left out, because the format has no place for it; other kinds were refused before. */
function wordsOf(part: Part): string {
  return part.type === 'text' || part.type === 'refusal' ? unlabelled(part.text) : '';
}

/** The text without lines that pass for a label: nothing that is quoted in a turn may begin another. */
function unlabelled(text: string): string {
  return text.replace(/^(?=(?:System|User|Assistant):[ \t]*$)/gm, ' ');
}
