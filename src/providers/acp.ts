import type { Provider } from './provider.ts';

/**
 * Agents on the gateway's own machine, asked by the Agent Client Protocol instead of HTTP. The gateway speaks the chat
 * format with the part of itself that asks them. `.invalid` never resolves (RFC 2606).
 */
export const acp: Provider = {
  id: 'acp',
  name: 'ACP agents (on this machine)',
  category: 'agent',
  website: 'https://agentclientprotocol.com',
  documentation: 'https://agentclientprotocol.com/protocol/overview',
  baseUrl: 'http://acp.invalid',
  auth: { kind: 'none' },
  formats: { 'openai-chat': '/v1/chat/completions' },
  dialect: { vendorFields: true, customTools: true, reasoningField: 'reasoning_content' },
  modelsPath: null,
  forwardHeaders: 'standard',
  keyVariables: [],
  // The cost of an agent's own account is unknown to the gateway.
  prices: null,
  unpriced: 'unknown',
  suggestedModel: null,
};
