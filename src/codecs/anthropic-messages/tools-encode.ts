import type { Conversation, Tool } from '../conversation.ts';
import type { JsonObject } from '../values.ts';
import { cacheOf } from './content-encode.ts';

/** The tools that may be called; a caller's narrower choice leaves the others out, for the format has no word for it. */
export function toolList({ toolChoice, tools }: Conversation): JsonObject[] {
  const allowed = toolChoice?.kind === 'allowed' ? new Set(toolChoice.names) : null;
  return tools
    .filter((tool) => allowed === null || !('name' in tool) || allowed.has(tool.name))
    .flatMap(toolOf);
}

const emptySchema = { type: 'object', properties: {} };

function toolOf(tool: Tool): JsonObject[] {
  switch (tool.kind) {
    case 'function':
      return [
        {
          name: tool.name,
          ...(tool.description === null ? {} : { description: tool.description }),
          // The vendor wants an object at the root, whatever else the schema says.
          input_schema: { ...emptySchema, ...tool.schema, type: 'object' },
          ...(tool.strict === true ? { strict: true } : {}),
          ...cacheOf(tool),
        },
      ];
    case 'web-search':
      return [searchOf(tool)];
    case 'native':
      return tool.format === 'anthropic-messages' ? [tool.value] : [];
    case 'custom':
      return [];
  }
}

function searchOf(tool: Extract<Tool, { kind: 'web-search' }>): JsonObject {
  if (tool.native.format === 'anthropic-messages') return tool.native.value;
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(tool.maxUses === null ? {} : { max_uses: tool.maxUses }),
    ...(tool.allowedDomains === null ? {} : { allowed_domains: tool.allowedDomains }),
    // The vendor takes one of the two lists.
    ...(tool.blockedDomains === null || tool.allowedDomains !== null
      ? {}
      : { blocked_domains: tool.blockedDomains }),
    ...(tool.location === null ? {} : { user_location: tool.location }),
  };
}

/** `tool_choice`; whether several calls may come at once is said in it (T-04, T-05). */
export function choiceOf({ parallelToolCalls, toolChoice }: Conversation): JsonObject | undefined {
  if (toolChoice === null && parallelToolCalls !== false) return undefined;
  const parallel = parallelToolCalls === null ? {} : { disable_parallel_tool_use: !parallelToolCalls };
  switch (toolChoice?.kind) {
    case 'none':
      return { type: 'none' };
    case 'required':
      return { type: 'any', ...parallel };
    case 'tool':
      return { type: 'tool', name: toolChoice.name, ...parallel };
    case 'allowed':
      return { type: toolChoice.required ? 'any' : 'auto', ...parallel };
    default:
      return { type: 'auto', ...parallel };
  }
}
