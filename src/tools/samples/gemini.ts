import { argumentsOf, instructions, question, type Sample } from './sample.ts';

const calls = 'read_file';

/** As clients of Google's API ask: the model in the path, the schema of a tool as JSON schema. */
export const geminiSample: Sample = {
  path: '/v1beta/models/<model>:streamGenerateContent?alt=sse',
  headers: { 'user-agent': 'GeminiCLI/0.61.0' },
  body: {
    systemInstruction: { role: 'user', parts: [{ text: instructions }] },
    contents: [{ role: 'user', parts: [{ text: question(calls) }] }],
    generationConfig: {
      temperature: 1,
      topP: 0.95,
      topK: 64,
      thinkingConfig: { includeThoughts: true, thinkingBudget: 8_192 },
    },
    tools: [
      {
        functionDeclarations: [
          { name: calls, description: 'Reads a file', parametersJsonSchema: argumentsOf() },
        ],
      },
    ],
  },
  bytes: 48_400,
  calls,
  seenIn: null,
};
