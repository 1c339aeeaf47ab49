import { protocolRestartCommand, protocolStatusCommand } from '../../resources/protocol-service.ts';

const mcp = { id: 'mcp', name: 'MCP server', path: '/mcp' } as const;

export const mcpStatusCommand = protocolStatusCommand(mcp);
export const mcpRestartCommand = protocolRestartCommand(mcp);
