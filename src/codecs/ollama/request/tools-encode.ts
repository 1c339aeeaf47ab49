import type { JsonObject } from '../../json/values.ts';
import type { Conversation, FunctionTool } from '../../model/conversation.ts';

/** The tools that may be called: the format has no tool choice, so that a choice of one tool leaves out the others. */
export function toolList(conversation: Conversation): JsonObject[] {
  return offered(conversation).map(({ description, name, schema }) => ({
    type: 'function',
    function: {
      name,
      ...(description === null ? {} : { description }),
      parameters: schema ?? { type: 'object', properties: {} },
    },
  }));
}

function offered({ toolChoice, tools }: Conversation): FunctionTool[] {
  const functions = tools.filter((tool) => tool.kind === 'function');
  switch (toolChoice?.kind) {
    case 'none':
      return [];
    case 'tool':
      return functions.filter(({ name }) => name === toolChoice.name);
    default:
      return functions;
  }
}

/** The instruction for a model that must call a tool: the format has no field for it. */
export function choiceWords(conversation: Conversation): string[] {
  const { toolChoice } = conversation;
  const forced =
    toolChoice?.kind === 'required' ||
    toolChoice?.kind === 'tool' ||
    (toolChoice?.kind === 'allowed' && toolChoice.required);
  const [first, ...more] = forced ? offered(conversation) : [];
  if (first === undefined) return [];
  return [
    more.length === 0 ? `Answer with a call of the tool "${first.name}".` : 'Answer with a call of a tool.',
  ];
}
