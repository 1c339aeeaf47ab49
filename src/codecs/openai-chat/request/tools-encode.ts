import { knownChoice } from '../../adapt/allowed-tools.ts';
import { type WrittenTools, writtenTools } from '../../adapt/shared-tools.ts';
import type { JsonObject } from '../../json/values.ts';
import type { Conversation, Tool, ToolChoice } from '../../model/conversation.ts';
import type { Dialect } from '../../model/dialect.ts';

/**
 * The tools and the choice among them; without tools neither may be sent. Only the vendor supports a choice of
 * several: for others it is written into the prompt.
 */
export function toolFields(
  conversation: Conversation,
  dialect: Dialect,
  written: WrittenTools | null,
): JsonObject {
  const { parallelToolCalls, toolChoice } = conversation;
  const tools = conversation.tools.filter((tool) => tool.kind !== 'custom' || dialect.customTools);
  const list = writtenTools(conversation.tools, written, () => tools.flatMap(toolOf));
  const search = tools.find((tool) => tool.kind === 'web-search' && tool.native.format === 'openai-chat');
  const searching = search?.kind === 'web-search' ? { web_search_options: search.native.value } : {};
  if (list.length === 0) return searching;
  return {
    tools: list,
    tool_choice: choiceOf(dialect.vendorFields ? toolChoice : knownChoice(conversation), tools),
    parallel_tool_calls: parallelToolCalls,
    ...searching,
  };
}

function toolOf(tool: Tool): JsonObject[] {
  switch (tool.kind) {
    case 'function': {
      const { description, name, schema, strict } = tool;
      const definition = {
        name,
        ...(description === null ? {} : { description }),
        parameters: schema ?? { type: 'object', properties: {} },
        ...(strict === null ? {} : { strict }),
      };
      return [{ type: 'function', function: definition }];
    }
    case 'custom': {
      const { description, grammar, name } = tool;
      const definition = {
        name,
        ...(description === null ? {} : { description }),
        format: grammar === null ? { type: 'text' } : { type: 'grammar', grammar },
      };
      return [{ type: 'custom', custom: definition }];
    }
    case 'native':
      return tool.format === 'openai-chat' ? [tool.value] : [];
    case 'web-search':
      // Few models take the field for it: a search that another format asked for is left out.
      return [];
  }
}

function choiceOf(choice: ToolChoice | null, tools: readonly Tool[]): unknown {
  const choiceOfName = (name: string): JsonObject[] => {
    const tool = tools.find((one) => (one.kind === 'function' || one.kind === 'custom') && one.name === name);
    if (tool === undefined) return [];
    const type = tool.kind === 'custom' ? 'custom' : 'function';
    return [{ type, [type]: { name } }];
  };
  switch (choice?.kind) {
    case undefined:
      return null;
    case 'tool':
      return choiceOfName(choice.name)[0] ?? null;
    case 'allowed': {
      const mode = choice.required ? 'required' : 'auto';
      return { type: 'allowed_tools', allowed_tools: { mode, tools: choice.names.flatMap(choiceOfName) } };
    }
    default:
      return choice?.kind;
  }
}
