import { codecs } from '../../codecs/index.ts';

/**
 * What OpenTelemetry's conventions for generative AI call things (opentelemetry.io/docs/specs/semconv/gen-ai). A value that
 * they do not list is a name of one's own, as they allow.
 */

const operations: Readonly<Record<string, string>> = {
  gemini: 'generate_content',
  'openai-completions': 'text_completion',
  'openai-embeddings': 'embeddings',
  'openai-images': 'image_generation',
  'openai-image-edits': 'image_edit',
  'openai-speech': 'speech',
  'openai-transcriptions': 'transcription',
  'openai-translations': 'translation',
  'openai-moderations': 'moderation',
  rerank: 'rerank',
};

/** `gen_ai.operation.name` of a request in a wire format. */
export function operationOf(format: string): string {
  return operations[format] ?? 'chat';
}

const providers: Readonly<Record<string, string>> = {
  'azure-openai': 'azure.ai.openai',
  'azure-openai-deployments': 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  'bedrock-openai': 'aws.bedrock',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  'vertex-anthropic': 'gcp.vertex_ai',
  mistral: 'mistral_ai',
  moonshot: 'moonshot_ai',
  xai: 'x_ai',
};

/** `gen_ai.provider.name` of a provider. */
export function providerNameOf(provider: string): string {
  return providers[provider] ?? provider;
}

/** The path of a wire format, for `http.route`: paths themselves may name models and hold keys. */
export function routeOf(format: string, streamed: boolean): string {
  if (format === 'gemini')
    return `/v1beta/models/{model}:${streamed ? 'streamGenerateContent' : 'generateContent'}`;
  if (format === 'ollama') return '/api/chat';
  return `/v1${codecs.find((codec) => codec.format === format)?.path ?? ''}`;
}
