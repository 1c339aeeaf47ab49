import { members, nativeMembers, openMembers, type Readable } from '../../json/read-members.ts';
import type { ConceptWords } from '../../model/concept.ts';

const media = {
  inlineData: members(['mimeType', 'data', 'displayName']),
  fileData: members(['mimeType', 'fileUri', 'displayName']),
};
const part = members(
  [
    'text',
    'thought',
    'thoughtSignature',
    'executableCode',
    'codeExecutionResult',
    'toolCall',
    'toolResponse',
    'audioTranscription',
  ],
  {
    ...media,
    functionCall: members(['id', 'name', 'args', 'partialArgs', 'willContinue']),
    functionResponse: members(['id', 'name', 'response'], { parts: members([], media) }),
  },
);

/** Members of the request, of its settings and of functions that are not read are extras (`own-members.ts`). */
export const readable: Readable = openMembers({
  contents: members(['role'], { parts: part }),
  systemInstruction: members(['role'], { parts: members(['text']) }),
  tools: openMembers({
    googleSearch: nativeMembers(['excludeDomains']),
    googleSearchRetrieval: nativeMembers([]),
  }),
  toolConfig: openMembers({ functionCallingConfig: members(['mode', 'allowedFunctionNames']) }),
  generationConfig: openMembers({
    thinkingConfig: members(['includeThoughts', 'thinkingBudget', 'thinkingLevel']),
  }),
});

const config = (name: string) => ({ [`generationConfig.${name}`]: [`generationConfig.${name}`] });

export const otherWords: ConceptWords = {
  schemaOutput: { ...config('responseJsonSchema'), ...config('responseSchema') },
  imageInput: { inlineData: ['contents.parts.inlineData'], fileData: ['contents.parts.fileData'] },
  fileInput: { inlineData: ['contents.parts.inlineData'], fileData: ['contents.parts.fileData'] },
  toolCalls: {
    functionCall: ['contents.parts.functionCall'],
    functionResponse: ['contents.parts.functionResponse'],
  },
  webSearch: {
    'tools.googleSearch': ['tools.googleSearch'],
    'tools.googleSearchRetrieval': ['tools.googleSearchRetrieval'],
  },
};
