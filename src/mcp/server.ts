import { McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { GatewayError } from '../lib/error.ts';
import { type Api, type ApiBody, ApiError } from './api.ts';
import { gatewayPrompts } from './prompts.ts';
import { gatewayResources, requestResource } from './resources.ts';
import type { GatewayTool } from './tool.ts';
import { gatewayTools } from './tools/index.ts';

export interface McpServerInput {
  version: string;
  /** The gateway, as the person may use it. */
  api: Api;
  /** Told of each call of a tool. @param fault what was the gateway's own fault; null for none */
  onCall(fault: unknown): void;
}

const instructions = `Modelgate is an AI gateway: it takes model requests of coding tools and agents, chooses a provider for each, and records what they cost. These tools look at one gateway and change it. Begin with "health" when something does not work, and with "costs" for money. What changes the gateway (switch_combo, set_budget, create_key) does so for everybody who uses it: ask first.`;

/** A server with the tools, resources and prompts that the person of `api` may use. */
export function createMcpServer(input: McpServerInput): McpServer {
  const { api, version } = input;
  // The lists change with the gateway's version and the user's permissions alone, so clients need not watch them.
  const capabilities = {
    tools: { listChanged: false },
    resources: { listChanged: false },
    prompts: { listChanged: false },
  };
  const info = { name: 'modelgate', title: 'Modelgate', version };
  const server = new McpServer(info, { capabilities, instructions });
  for (const tool of gatewayTools.filter(({ permission }) => api.can(permission)))
    addTool(server, tool, input);
  for (const { name, of, uri } of gatewayResources.filter(({ of }) => api.can(of.permission)))
    server.registerResource(name, uri, detailsOf(of), async () => contents(uri, await answer(of, {}, input)));
  if (api.can(requestResource.of.permission)) {
    const { name, of, uri } = requestResource;
    const template = new ResourceTemplate(uri, { list: undefined });
    server.registerResource(name, template, detailsOf(of), async (url, variables) =>
      contents(url.href, await answer(of, variables, input)),
    );
  }
  for (const prompt of gatewayPrompts.filter(({ permissions }) => permissions.every(api.can))) {
    const { description, title } = prompt;
    server.registerPrompt(prompt.name, { title, description, argsSchema: prompt.input }, (args) => ({
      messages: [{ role: 'user', content: { type: 'text', text: prompt.text(args) } }],
    }));
  }
  return server;
}

function addTool(server: McpServer, tool: GatewayTool, input: McpServerInput): void {
  const { description, effect, name, title } = tool;
  const annotations = {
    readOnlyHint: effect === 'reads',
    destructiveHint: effect === 'replaces',
    idempotentHint: effect !== 'adds',
    openWorldHint: false,
  };
  const config = { title, description, inputSchema: tool.input, annotations };
  server.registerTool(name, config, async (args) => {
    try {
      const body = await answer(tool, args, input);
      return { content: [{ type: 'text', text: JSON.stringify(body) }], structuredContent: body };
    } catch (error) {
      return { content: [{ type: 'text', text: messageOf(error) }], isError: true };
    }
  });
}

/** Runs a tool, and counts it. */
async function answer(tool: GatewayTool, args: unknown, { api, onCall }: McpServerInput): Promise<ApiBody> {
  try {
    const body = await tool.run(tool.input.parse(args), api);
    onCall(null);
    return body;
  } catch (error) {
    onCall(isRefusal(error) ? null : error);
    throw isRefusal(error)
      ? error
      : new ApiError('internal_error', 'The gateway failed; its log has the cause');
  }
}

/** Whether the gateway refused something, which is no fault of its own. */
function isRefusal(error: unknown): boolean {
  return (error instanceof GatewayError && error.code !== 'internal_error') || error instanceof ApiError;
}

function messageOf(error: unknown): string {
  return error instanceof GatewayError || error instanceof ApiError
    ? `${error.code}: ${error.message}`
    : String(error);
}

function detailsOf({ description, title }: GatewayTool) {
  return { title, description, mimeType: 'application/json' };
}

function contents(uri: string, body: ApiBody) {
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(body) }] };
}
