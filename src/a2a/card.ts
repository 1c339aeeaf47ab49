/**
 * The agent card, in the shapes of A2A 1.0 (`supportedInterfaces`) and of 0.3 (`url`, `preferredTransport`) at once: clients
 * of either read their own fields and leave the others.
 * @param origin where the gateway was asked: `http://127.0.0.1:20128`
 */
export function agentCard(origin: string): Record<string, unknown> {
  const url = `${origin}/a2a`;
  const modes = ['text/plain'];
  return {
    name: 'Modelgate',
    description:
      'An AI gateway. It answers with any model behind it, explains why a request went where it went, and reports costs and health.',
    version: '1.0.0',
    protocolVersion: '0.3.0',
    url,
    preferredTransport: 'JSONRPC',
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', protocolVersion: '0.3' },
    ],
    capabilities: { streaming: true, pushNotifications: false },
    securitySchemes: {
      bearer: httpScheme(
        'bearer',
        'A gateway key to ask a model, or a token of the management API for the rest.',
      ),
      basic: httpScheme('basic', 'A user of the management API.'),
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }, { schemes: { basic: { list: [] } } }],
    security: [{ bearer: [] }, { basic: [] }],
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: [
      {
        id: 'ask-a-model',
        name: 'Ask a model',
        description:
          'Answers with the model in "metadata.model" (default "auto"), as the gateway key may use it. Messages of one context are one conversation.',
        tags: ['llm', 'chat'],
        examples: ['What is a monad?'],
      },
      {
        id: 'explain',
        name: 'Explain a request',
        description: 'Why the model request with the id in the text went where it went, and what it cost.',
        tags: ['routing', 'debugging'],
        examples: ['Why did req_0mwq1x2y3zA fail?'],
        outputModes: [...modes, 'application/json'],
      },
      {
        id: 'report',
        name: 'Report',
        description:
          'What was used and spent in the days of "metadata.days" (default 7), and what does not work.',
        tags: ['cost', 'usage', 'health'],
        examples: ['How are we doing?'],
        outputModes: [...modes, 'application/json'],
      },
    ],
  };
}

/** In both shapes: 0.3 reads `type`, 1.0 the object of that name. */
function httpScheme(scheme: 'bearer' | 'basic', description: string) {
  return { type: 'http', scheme, description, httpAuthSecurityScheme: { scheme, description } };
}
