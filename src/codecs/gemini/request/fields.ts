import { fields, nativeFields, openFields, type Readable } from '../../json/read-fields.ts';
import type { ConceptWords } from '../../model/concept.ts';

const media = {
  inlineData: fields(['mimeType', 'data', 'displayName']),
  fileData: fields(['mimeType', 'fileUri', 'displayName']),
};
const part = fields(
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
    functionCall: fields(['id', 'name', 'args', 'partialArgs', 'willContinue']),
    functionResponse: fields(['id', 'name', 'response'], { parts: fields([], media) }),
  },
);

/** Fields of the request, of its settings and of functions that are not read are extras (`own-fields.ts`). */
export const readable: Readable = openFields({
  contents: fields(['role'], { parts: part }),
  systemInstruction: fields(['role'], { parts: fields(['text']) }),
  tools: openFields({
    googleSearch: nativeFields(['excludeDomains']),
    googleSearchRetrieval: nativeFields([]),
  }),
  toolConfig: openFields({ functionCallingConfig: fields(['mode', 'allowedFunctionNames']) }),
  generationConfig: openFields({
    thinkingConfig: fields(['includeThoughts', 'thinkingBudget', 'thinkingLevel']),
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
