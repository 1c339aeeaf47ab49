import type { Tool, ToolChoice } from '../conversation.ts';
import type { Dialect } from '../dialect.ts';
import type { JsonObject } from '../values.ts';

export function toolList(tools: readonly Tool[], dialect: Dialect): JsonObject[] {
  return tools.flatMap((tool) => toolOf(tool, dialect));
}

function toolOf(tool: Tool, { customTools }: Dialect): JsonObject[] {
  switch (tool.kind) {
    case 'function': {
      const { description, name, schema, strict } = tool;
      const said = {
        name,
        ...(description === null ? {} : { description }),
        parameters: schema ?? { type: 'object', properties: {} },
        ...(strict === null ? {} : { strict }),
      };
      return [{ type: 'function', function: said }];
    }
    case 'custom': {
      if (!customTools) return [];
      const { description, grammar, name } = tool;
      const said = {
        name,
        ...(description === null ? {} : { description }),
        format: grammar === null ? { type: 'text' } : { type: 'grammar', grammar },
      };
      return [{ type: 'custom', custom: said }];
    }
    case 'native':
      return tool.format === 'openai-chat' ? [tool.value] : [];
    case 'web-search':
      return [];
  }
}

export function choiceOf(choice: ToolChoice | null, tools: readonly Tool[]): unknown {
  const named = (name: string): JsonObject => {
    const custom = tools.some((tool) => tool.kind === 'custom' && tool.name === name);
    return custom ? { type: 'custom', custom: { name } } : { type: 'function', function: { name } };
  };
  switch (choice?.kind) {
    case undefined:
      return null;
    case 'tool':
      return named(choice.name);
    case 'allowed': {
      const mode = choice.required ? 'required' : 'auto';
      return { type: 'allowed_tools', allowed_tools: { mode, tools: choice.names.map(named) } };
    }
    default:
      return choice?.kind;
  }
}
