import { protocolRestartCommand, protocolStatusCommand } from '../../resources/protocol-service.ts';

const a2a = { id: 'a2a', name: 'A2A server', path: '/a2a' } as const;

export const a2aStatusCommand = protocolStatusCommand(a2a);
export const a2aRestartCommand = protocolRestartCommand(a2a);
