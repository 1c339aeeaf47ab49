import type { JsonObject } from '../../json/values.ts';
import type { Conversation, Tool, ToolChoice } from '../../model/conversation.ts';

/** Tools of one namespace stand together, where the first of them stood. */
export function toolList(tools: readonly Tool[], namespaces: Conversation['namespaces']): JsonObject[] {
  const result: JsonObject[] = [];
  const groups = new Map<string, JsonObject[]>();
  for (const tool of tools) {
    const namespace = tool.kind === 'function' || tool.kind === 'custom' ? tool.namespace : undefined;
    if (namespace === undefined) {
      result.push(toolOf(tool));
      continue;
    }
    let group = groups.get(namespace);
    if (group === undefined) {
      group = [];
      groups.set(namespace, group);
      const description = Object.hasOwn(namespaces, namespace) ? namespaces[namespace] : undefined;
      result.push({
        type: 'namespace',
        name: namespace,
        ...(description === undefined ? {} : { description }),
        tools: group,
      });
    }
    group.push(toolOf(tool));
  }
  return result;
}

function toolOf(tool: Tool): JsonObject {
  switch (tool.kind) {
    case 'function':
      return {
        type: 'function',
        name: tool.name,
        ...(tool.description === null ? {} : { description: tool.description }),
        parameters: tool.schema ?? { type: 'object', properties: {} },
        // The vendor's own default would hold any schema to its strict subset.
        strict: tool.strict ?? false,
      };
    case 'custom':
      return {
        type: 'custom',
        name: tool.name,
        ...(tool.description === null ? {} : { description: tool.description }),
        format: tool.grammar === null ? { type: 'text' } : { type: 'grammar', ...tool.grammar },
      };
    case 'web-search':
      return searchOf(tool);
    case 'native':
      return tool.value;
  }
}

function searchOf(tool: Extract<Tool, { kind: 'web-search' }>): JsonObject {
  if (tool.native.format === 'openai-responses') return tool.native.value;
  const filters = {
    ...(tool.allowedDomains === null ? {} : { allowed_domains: tool.allowedDomains }),
    ...(tool.blockedDomains === null ? {} : { blocked_domains: tool.blockedDomains }),
  };
  return {
    type: 'web_search',
    ...(Object.keys(filters).length === 0 ? {} : { filters }),
    ...(tool.location === null ? {} : { user_location: tool.location }),
  };
}

export function choiceOf(choice: ToolChoice | null, tools: readonly Tool[]): unknown {
  const choiceOfName = (name: string) => {
    const tool = tools.find((candidate) => 'name' in candidate && candidate.name === name);
    return tool?.kind === 'native'
      ? { type: name }
      : { type: tool?.kind === 'custom' ? 'custom' : 'function', name };
  };
  switch (choice?.kind) {
    case undefined:
      return undefined;
    case 'tool':
      return choiceOfName(choice.name);
    case 'allowed':
      return {
        type: 'allowed_tools',
        mode: choice.required ? 'required' : 'auto',
        tools: choice.names.map(choiceOfName),
      };
    default:
      return choice?.kind;
  }
}
