import { isTextFile } from '../files/text-file.ts';
import type { Concept } from '../model/concept.ts';
import type { Content } from '../model/content.ts';
import type {
  Conversation,
  Message,
  OutputShape,
  Part,
  TextPart,
  ToolResultPart,
} from '../model/conversation.ts';
import { setOff } from './joined-texts.ts';
import { mapChanged } from './map-changed.ts';

/**
 * The conversation with those things said in its text that the target has no field for: who of several users speaks,
 * the names of documents, and what a schema is for. The same every time, so that prompt caches keep hitting.
 */
export function withContextInText(
  conversation: Conversation,
  { media, names }: Content,
  canExpress: (concept: Concept) => boolean,
): Conversation {
  const { messages, output } = conversation;
  if (!media && !names && output.kind !== 'schema') return conversation;
  const named = canExpress('participants') ? messages : mapChanged(messages, withParticipant);
  const keptOnFiles = canExpress('fileNames');
  const withNames = mapChanged(named, (message) => withFileNames(message, keptOnFiles));
  const described = canExpress('schemaDescription') ? output : withDescription(output);
  if (withNames === messages && described === output) return conversation;
  return { ...conversation, messages: withNames, output: described };
}

/** Stands before what a participant of this name says. */
export function participantText(name: string): TextPart {
  return { type: 'text', text: `Message from ${JSON.stringify(name)}:` };
}

function withParticipant(message: Message): Message {
  const { name, parts, role } = message;
  if (name === undefined || role === 'assistant') return message;
  return { role, parts: [participantText(name), ...parts] };
}

/** @param keptOnFiles documents have their names as they are; pictures have none in any format that is written */
function withFileNames(message: Message, keptOnFiles: boolean): Message {
  const { parts } = message;
  if (!parts.some((part) => isNamed(part) || (part.type === 'tool-result' && part.parts.some(isNamed))))
    return message;
  const nameOf = (part: Part) => nameText(part, keptOnFiles);
  return {
    ...message,
    parts: parts.flatMap((part): Part[] =>
      part.type === 'tool-result'
        ? [{ ...part, parts: resultWithNames(part.parts, nameOf) }]
        : [...nameOf(part), part],
    ),
  };
}

function resultWithNames(
  parts: ToolResultPart['parts'],
  nameOf: (part: Part) => TextPart[],
): ToolResultPart['parts'] {
  const describedParts = new Set<Part>();
  const named = parts.flatMap((part) => {
    const names = nameOf(part);
    for (const name of names) describedParts.add(name);
    return [...names, part];
  });
  return describedParts.size === 0 ? parts : setOff(named, (part) => describedParts.has(part));
}

function isNamed(part: Part): boolean {
  return (part.type === 'file' || part.type === 'image') && part.name !== undefined;
}

/** The name of a document whose content cannot tell it: one that is text stands under its name anyway. */
function nameText(part: Part, keptOnFiles: boolean): TextPart[] {
  if ((part.type !== 'file' && part.type !== 'image') || part.name === undefined) return [];
  if (part.type === 'file' && (keptOnFiles || isTextFile(part))) return [];
  return [{ type: 'text', text: `${part.name}:` }];
}

function withDescription(output: OutputShape): OutputShape {
  if (output.kind !== 'schema' || output.description === null) return output;
  const { description: own } = output.schema;
  const description = typeof own === 'string' ? `${output.description}\n\n${own}` : output.description;
  return { ...output, description: null, schema: { ...output.schema, description } };
}
