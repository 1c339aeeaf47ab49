import { isObject } from '../../json/values.ts';
import { flagAt, numberAt, objectAt, textAt, wrong } from '../../json/wire-check.ts';
import type { Tool, ToolChoice } from '../../model/conversation.ts';
import type { ToolChoiceOption, ToolOffer } from '../wire.ts';
import { cacheOf } from './content-decode.ts';

export function readTools(tools: readonly unknown[]): Tool[] {
  return tools.map((tool, index) => readTool(tool, `tools[${index}]`));
}

function readTool(value: unknown, path: string): Tool {
  if (!isObject(value)) throw wrong(path, 'an object');
  const tool: ToolOffer = value;
  const type = textAt(tool, 'type', `${path}.type`);
  if (type?.startsWith('web_search')) return searchTool(tool);
  if (type !== null && type !== 'custom') {
    return { kind: 'native', format: 'anthropic-messages', name: type, value: tool };
  }
  const name = textAt(tool, 'name', `${path}.name`);
  if (name === null) throw wrong(`${path}.name`, 'a string');
  return {
    kind: 'function',
    name,
    description: textAt(tool, 'description', `${path}.description`),
    schema: objectAt(tool, 'input_schema', `${path}.input_schema`),
    strict: flagAt(tool, 'strict'),
    ...cacheOf(tool),
  };
}

function searchTool(tool: ToolOffer): Tool {
  const domains = (list: unknown) =>
    Array.isArray(list) ? list.filter((one) => typeof one === 'string') : null;
  return {
    kind: 'web-search',
    maxUses: numberAt(tool, 'max_uses'),
    allowedDomains: domains(tool.allowed_domains),
    blockedDomains: domains(tool.blocked_domains),
    location: isObject(tool.user_location) ? tool.user_location : null,
    native: { format: 'anthropic-messages', value: tool },
  };
}

/** `tool_choice`, which also allows or forbids parallel calls. */
export function readChoice(choice: ToolChoiceOption | null): {
  choice: ToolChoice | null;
  parallel: boolean | null;
} {
  if (choice === null) return { choice: null, parallel: null };
  const single = flagAt(choice, 'disable_parallel_tool_use');
  const parallel = single === null ? null : !single;
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { choice: { kind: choice.type }, parallel };
    case 'any':
      return { choice: { kind: 'required' }, parallel };
    case 'tool': {
      const name = textAt(choice, 'name', 'tool_choice.name');
      if (name === null) throw wrong('tool_choice.name', 'a string');
      return { choice: { kind: 'tool', name }, parallel };
    }
    default:
      throw wrong('tool_choice.type', '"auto", "any", "tool" or "none"');
  }
}
