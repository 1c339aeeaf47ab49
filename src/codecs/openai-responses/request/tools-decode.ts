import { isObject, type JsonObject, listOf, objectOf, textOf } from '../../json/values.ts';
import { flagAt, listAt, objectAt, textAt, wrong } from '../../json/wire-check.ts';
import type { Tool, ToolChoice } from '../../model/conversation.ts';
import type {
  CustomFormat,
  ResponsesItem,
  ResponsesRequest,
  ResponsesTool,
  SearchFilters,
  ToolChoiceOption,
} from '../wire.ts';

/** The tools of a request, those in namespaces one by one. */
export function readTools(tools: readonly unknown[], path: string, namespace?: string): Tool[] {
  return tools.flatMap((tool, index) => readTool(tool, `${path}[${index}]`, namespace));
}

function readTool(value: unknown, path: string, namespace: string | undefined): Tool[] {
  if (!isObject(value)) throw wrong(path, 'an object');
  const tool: ResponsesTool = value;
  const type = textAt(tool, 'type', `${path}.type`);
  if (type === null) throw wrong(`${path}.type`, 'a string');
  const inside = namespace === undefined ? {} : { namespace };
  const nameAndDescription = () => {
    const name = textAt(tool, 'name', `${path}.name`);
    if (name === null) throw wrong(`${path}.name`, 'a string');
    return { name, description: textAt(tool, 'description', `${path}.description`) };
  };
  switch (type) {
    case 'function': {
      const schema = objectAt(tool, 'parameters', `${path}.parameters`);
      return [
        { kind: 'function', ...nameAndDescription(), schema, strict: flagAt(tool, 'strict'), ...inside },
      ];
    }
    case 'custom':
      return [
        { kind: 'custom', ...nameAndDescription(), grammar: grammarOf(objectOf(tool.format)), ...inside },
      ];
    case TOOL_SEARCH:
      // The vendor's own search finds only tools that are stored with the vendor.
      if (tool.execution !== 'client') return [nativeTool(type, tool)];
      return [
        {
          kind: 'function',
          name: TOOL_SEARCH,
          strict: null,
          description: textAt(tool, 'description', `${path}.description`),
          schema: objectAt(tool, 'parameters', `${path}.parameters`),
        },
      ];
    case 'namespace':
      return readTools(listAt(tool, 'tools', `${path}.tools`), `${path}.tools`, nameAndDescription().name);
    default:
      if (type.startsWith('web_search')) return [searchTool(tool)];
      return [nativeTool(type, tool)];
  }
}

function nativeTool(name: string, value: JsonObject): Tool {
  return { kind: 'native', format: 'openai-responses', name, value };
}

/** The tool that finds tools. Where the client runs it, it is a function to other formats. */
export const TOOL_SEARCH = 'tool_search';

/** Whether a request offers a search for tools that the client runs; newer models get their tools as an item. */
export function searchesTools(request: ResponsesRequest): boolean {
  const items = listOf(request.input).map(objectOf<ResponsesItem>);
  const lists = items.filter(({ type }) => type === 'additional_tools').map(({ tools }) => tools);
  const tools = [request.tools, ...lists].flatMap(listOf).map(objectOf<ResponsesTool>);
  return tools.some(({ execution, type }) => type === TOOL_SEARCH && execution === 'client');
}

function grammarOf(format: CustomFormat): { syntax: string; definition: string } | null {
  if (format.type !== 'grammar') return null;
  return { syntax: textOf(format.syntax), definition: textOf(format.definition) };
}

function searchTool(tool: ResponsesTool): Tool {
  const { allowed_domains, blocked_domains } = objectOf<SearchFilters>(tool.filters);
  const domains = (list: unknown) =>
    Array.isArray(list) ? list.filter((one) => typeof one === 'string') : null;
  return {
    kind: 'web-search',
    maxUses: null,
    allowedDomains: domains(allowed_domains),
    blockedDomains: domains(blocked_domains),
    location: isObject(tool.user_location) ? tool.user_location : null,
    native: { format: 'openai-responses', value: tool },
  };
}

/** The descriptions of the namespaces among the tools, by name. */
export function namespacesIn(tools: readonly unknown[]): Record<string, string> {
  const namespaceTexts = tools
    .map(objectOf<ResponsesTool>)
    .flatMap(({ description, name, type }): [string, string][] => {
      const text = textOf(description);
      return type !== 'namespace' || text === '' ? [] : [[textOf(name), text]];
    });
  return Object.fromEntries(namespaceTexts);
}

/** `tool_choice`: a word, one tool, or the tools that are allowed. A hosted tool is chosen by its type. */
export function readChoice(choice: unknown): ToolChoice | null {
  if (choice === undefined || choice === null) return null;
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice };
  if (!isObject(choice)) throw wrong('tool_choice', '"auto", "none", "required" or an object');
  const option: ToolChoiceOption = choice;
  if (option.type === 'allowed_tools') {
    const names = listOf(option.tools).map((tool) => textOf(objectOf<ToolChoiceOption>(tool).name));
    return {
      kind: 'allowed',
      names: names.filter((name) => name !== ''),
      required: option.mode === 'required',
    };
  }
  const name = textOf(option.name) || textOf(option.type);
  if (name === '') throw wrong('tool_choice', 'an object with "type" and "name"');
  return { kind: 'tool', name };
}
